import { posix } from 'node:path';
import type { SimulatedFiles } from './files.ts';
import { spendWork } from './work.ts';

/** Makes a text a pattern that matches it alone. */
export function quotedPattern(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

const special = /[*?]|\[[^\][]*\]/;

/** True if a pattern matches more than one text. */
export function isPattern(pattern: string): boolean {
  return special.test(pattern) && special.test(pattern.replace(/\\[\s\S]/g, ''));
}

/** Text of a pattern without its quoting. */
function unquoted(pattern: string): string {
  return pattern.replace(/\\([\s\S])/g, '$1');
}

/** Characters in which a set has to end. */
const maxSetLength = 256;
const unitsPerSet = maxSetLength >> 4;

/** One step of a pattern: any text, or one character of a set. */
type Step = '*' | ((char: string) => boolean);

/** True if a pattern of the shell (`*`, `?`, `[abc]`, `[!a-z]`, `\*`) matches a text. Upstream: fnmatch of POSIX. */
export function matchesPattern(pattern: string, text: string): boolean {
  const steps = stepsOf(pattern);
  spendWork((steps.length * text.length) >> 5);
  // The last asterisk, and the place in the text up to which it matches.
  let [star, starEnd] = [-1, 0];
  let [at, step] = [0, 0];
  while (at < text.length) {
    const now = steps[step];
    if (now === '*') {
      [star, starEnd] = [step, at];
      step += 1;
    } else if (now?.(text[at] as string)) {
      at += 1;
      step += 1;
    } else if (star >= 0) {
      starEnd += 1;
      [at, step] = [starEnd, star + 1];
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === '*');
}

function stepsOf(pattern: string): Step[] {
  spendWork(pattern.length >> 2);
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string;
    if (char === '[') spendWork(unitsPerSet);
    const set = char === '[' ? /^\[(!?)(\]?(?:\\[\s\S]|[^\]\\])*)\]/.exec(pattern.slice(at, at + maxSetLength)) : null;
    if (char === '*') steps.push('*');
    else if (char === '?') steps.push(() => true);
    else if (set) {
      steps.push(setOf(set[2] as string, set[1] === '!'));
      at += set[0].length - 1;
    } else {
      const literal = char === '\\' && at + 1 < pattern.length ? (pattern[++at] as string) : char;
      steps.push((one) => one === literal);
    }
  }
  return steps;
}

/** Set of characters, with ranges such as `a-z`. */
function setOf(content: string, isNegated: boolean): (char: string) => boolean {
  const ranges = [...content.matchAll(/\\?([\s\S])-\\?([\s\S])|\\?([\s\S])/g)].map(([, from, to, single]) =>
    single === undefined ? [from as string, to as string] : [single, single],
  ) as [string, string][];
  return (char) => ranges.some(([from, to]) => char >= from && char <= to) !== isNegated;
}

/** Removes the part at the start or the end of a text that a pattern matches: the shortest, or the longest. */
export function withoutMatch(text: string, pattern: string, end: 'start' | 'end', isLongest: boolean): string {
  for (let i = 0; i <= text.length; i += 1) {
    const length = isLongest ? text.length - i : i;
    const part = end === 'start' ? text.slice(0, length) : text.slice(text.length - length);
    if (matchesPattern(pattern, part)) return end === 'start' ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}

/** Lists the paths that a pattern matches, in their order. */
export function matchingPaths(pattern: string, folder: string, files: SimulatedFiles): string[] {
  const [first = '', ...rest] = pattern.split('/');
  const start = first === '' ? [''] : expand([''], first, folder, files);
  const found = rest.reduce(
    (paths, name) =>
      expand(
        paths.map((path) => `${path}/`),
        name,
        folder,
        files,
      ),
    start,
  );
  return found.toSorted();
}

/** Appends the names that a pattern matches to the paths of folders. */
function expand(prefixes: readonly string[], name: string, folder: string, files: SimulatedFiles): string[] {
  return prefixes.flatMap((prefix) => {
    if (!isPattern(name)) {
      const path = prefix + unquoted(name);
      const absolute = posix.resolve(folder, path);
      return files.isFolder(absolute) || files.read(absolute) !== undefined ? [path] : [];
    }
    const place = posix.resolve(folder, prefix || '.');
    const names = files.isFolder(place) ? files.list(place) : [];
    const isShown = (one: string): boolean => !one.startsWith('.') || name.startsWith('.');
    return names.filter((one) => isShown(one) && matchesPattern(name, one)).map((one) => prefix + one);
  });
}
