import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The message of ERR_MODULE_NOT_FOUND: the file or the name of the package, and the importing file. */
const notFound = /^Cannot find (?:module|package) '([^'\n]+)' imported from ([^\n]+)/;
const specifier = /\b(?:from|import)\b[\s(]*(['"])(.+?)\1/g;

/**
 * Returns the file and line of an import whose module is missing, which the error itself does not contain. Empty for other errors.
 *
 *     import { rules } from './rules.js';   ->   [{ file: '/plugin/index.js', line: 2 }]
 */
export async function placeOfImport({ message }: Error): Promise<{ readonly file: string; readonly line: number }[]> {
  const [, missing, file] = notFound.exec(message) ?? [];
  if (missing === undefined || file === undefined) return [];
  const text = await readFile(file, 'utf8').catch(() => '');
  const isMissing = (name = ''): boolean =>
    name === missing || name.startsWith(`${missing}/`) || (name.startsWith('.') && resolve(dirname(file), name) === missing);
  const at = text.split('\n').findIndex((line) => [...line.matchAll(specifier)].some(([, , name]) => isMissing(name)));
  return at < 0 ? [] : [{ file, line: at + 1 }];
}
