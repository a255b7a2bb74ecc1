import { posix } from 'node:path';
import { type ProgramContext, unsupported } from './program.ts';

const comparisons: ReadonlyMap<string, (a: string, b: string) => boolean> = new Map([
  ['=', (a, b) => a === b],
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
  ['-eq', (a, b) => Number(a) === Number(b)],
  ['-ne', (a, b) => Number(a) !== Number(b)],
  ['-lt', (a, b) => Number(a) < Number(b)],
  ['-le', (a, b) => Number(a) <= Number(b)],
  ['-gt', (a, b) => Number(a) > Number(b)],
  ['-ge', (a, b) => Number(a) >= Number(b)],
]);

/** Evaluates the expression of `test`; `-a` and `-o` join simple expressions. */
export function test(args: readonly string[], context: ProgramContext): boolean {
  return split(args, '-o').some((all) => split(all, '-a').every((one) => simpleTest(one, context)));
}

/** Splits words at the operator, which is not the first word of a part. */
function split(words: readonly string[], operator: string): string[][] {
  const parts: string[][] = [];
  let start = 0;
  for (let at = words.indexOf(operator, 1); at > 0; at = words.indexOf(operator, start + 1)) {
    parts.push(words.slice(start, at));
    start = at + 1;
  }
  return [...parts, words.slice(start)];
}

function simpleTest(words: readonly string[], context: ProgramContext): boolean {
  let negations = 0;
  while (negations < words.length - 1 && words[negations] === '!') negations += 1;
  const [first = '', second = '', third = '', ...more] = words.slice(negations);
  const count = Math.min(words.length - negations, 3) + more.length;
  const compare = count === 3 ? comparisons.get(second) : undefined;
  const verdictOf = (): boolean => {
    if (count <= 1) return first !== '';
    if (count === 2) return unaryTest(first, second, context);
    return compare ? compare(first, third) : unsupported(`test ${words.slice(0, 8).join(' ')}`);
  };
  return verdictOf() === (negations % 2 === 0);
}

function unaryTest(operator: string, operand: string, { files, folder }: ProgramContext): boolean {
  if (operator === '-n') return operand !== '';
  if (operator === '-z') return operand === '';
  if (!/^-[defrswx]$/.test(operator)) return unsupported(`test ${operator}`);
  const path = posix.resolve(folder, operand);
  const text = files.read(path);
  if (operator === '-d') return files.isFolder(path);
  if (operator === '-f') return text !== undefined;
  if (operator === '-s') return (text ?? '') !== '';
  if (operator === '-w' && files.isReadOnly(path)) return false;
  if (operator === '-x') return files.isFolder(path);
  return text !== undefined || files.isFolder(path);
}
