import { isMap, isSeq, parseDocument } from 'yaml';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';

/**
 * Returns the text of a configuration file for an image, in which the packages are installed. A package that the file names by a path is
 * named by its name: `package: ./` becomes `package: "@acme/rules"`. All else stays as it is.
 */
export function imageConfiguration(text: string, contributions: readonly LoadedContribution[]): string {
  const document = parseDocument(text);
  const packages = document.get('plugins');
  let isChanged = false;
  for (const [index, entry] of (isSeq(packages) ? packages.items : []).entries()) {
    const name = contributions.find((contribution) => contribution.entry === index)?.origin?.package;
    if (!isMap(entry) || name === undefined || !/^[./]/.test(String(entry.get('package')))) continue;
    entry.set('package', name);
    isChanged = true;
  }
  return isChanged ? document.toString({ lineWidth: 0 }) : text;
}
