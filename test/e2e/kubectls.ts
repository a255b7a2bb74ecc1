import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Returns every available kubectl: the one on the PATH and the one of the reference. */
export function findKubectls(): { name: string; path: string }[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kubectl'));
  const reference = join(process.env['REFERENCE_BIN'] ?? join(homedir(), '.cache/reference/bin'), 'kubectl');
  return [
    { name: 'on the path', path: onPath.find((path) => existsSync(path)) },
    { name: 'of the reference', path: existsSync(reference) ? reference : undefined },
  ].filter((one): one is { name: string; path: string } => one.path !== undefined);
}
