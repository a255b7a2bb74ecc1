import { posix } from 'node:path';
import { bytesOfText, textOfBytes } from './bytes.ts';
import {
  fails,
  lines,
  linesOf,
  nothing,
  optionsOf,
  type Program,
  type ProgramContext,
  type ProgramResult,
  prints,
  unsupported,
} from './program.ts';

/** Programs that print texts of files or of standard input. */

export const cat: Program = (args, context) => withFiles('cat', args, context, (texts) => prints(texts.join('')));

export const head: Program = (args, context) =>
  bytesOf('head', args, context) ?? partOf('head', args, context, (all, amount) => all.slice(0, amount));

export const tail: Program = (args, context) =>
  follow(args, context) ??
  bytesOf('tail', args, context) ??
  partOf('tail', args, context, (all, amount) => (amount === 0 ? [] : all.slice(-amount)));

/** `wc` with one of `-l`, `-w` and `-c`. */
export function wc(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('wc', args, 'lwc');
  if (options.size !== 1 || rest.length > 1) return unsupported('this use of wc');
  return withFiles('wc', rest, context, ([text = '']) => {
    const words = (): number => text.split(/\s+/).filter(Boolean).length;
    const amount = options.has('l') ? text.split('\n').length - 1 : options.has('w') ? words() : bytesOfText(text).length;
    return prints(`${amount}${rest[0] === undefined ? '' : ` ${rest[0]}`}\n`);
  });
}

/** Searches for text, which `^` and `$` tie to the ends of lines. Other regular expressions are not simulated. */
export function grep(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('grep', args, 'qvcinFE');
  const [pattern = '', ...paths] = rest;
  if (options.has('n')) return unsupported('grep -n');
  const [, start, plain = '', end] =
    (options.has('F') ? ['', '', pattern, ''] : /^(\^?)([^\\[\]*.+?(){}|^$]*)(\$?)$/.exec(pattern)) ?? unsupported('a regular expression');
  const fold = (text: string): string => (options.has('i') ? text.toLowerCase() : text);
  const wanted = fold(plain);
  const isFound = (line: string): boolean =>
    start && end ? line === wanted : start ? line.startsWith(wanted) : end ? line.endsWith(wanted) : line.includes(wanted);
  return withFiles('grep', paths, context, (texts) => {
    const found = texts.flatMap(linesOf).filter((line) => isFound(fold(line)) !== options.has('v'));
    const stdout = options.has('q') ? '' : options.has('c') ? `${found.length}\n` : lines(found);
    return { ...prints(stdout), exitCode: found.length > 0 ? 0 : 1 };
  });
}

/** Calls back with the texts of the files, or of standard input if there are none. */
function withFiles(
  program: string,
  paths: readonly string[],
  { files, folder, stdin }: ProgramContext,
  use: (texts: readonly string[]) => ProgramResult,
): ProgramResult {
  if (paths.length === 0) return use([stdin()]);
  const texts: string[] = [];
  for (const path of paths) {
    if (/^-./.test(path)) return unsupported(`${program} ${path}`);
    const text = path === '-' ? stdin() : files.read(posix.resolve(folder, path));
    if (text === undefined) return fails(`${program}: can't open '${path}': No such file or directory`);
    texts.push(text);
  }
  return use(texts);
}

function partOf(
  program: string,
  args: readonly string[],
  context: ProgramContext,
  select: (all: string[], count: number) => string[],
): ProgramResult {
  const [first = '', second = ''] = args;
  const own = /^-(?:n)?(\d+)$/.exec(first)?.[1] ?? (first === '-n' && /^\d+$/.test(second) ? second : undefined);
  const paths = own === undefined ? args : args.slice(first === '-n' ? 2 : 1);
  return withFiles(program, paths, context, (texts) => prints(lines(select(linesOf(texts.join('')), Number(own ?? 10)))));
}

/** `tail -f FILE`, which never ends; undefined without the option. Later additions to the file are not simulated. */
function follow(args: readonly string[], context: ProgramContext): ProgramResult | undefined {
  const rest = args.filter((arg) => arg !== '-f' && arg !== '-F');
  if (rest.length === args.length) return undefined;
  const [path = ''] = rest.slice(-1);
  if (posix.resolve(context.folder, path) === '/dev/null') return { ...nothing, seconds: Infinity };
  return { ...tail(rest, context), seconds: Infinity };
}

/** `head -c N`, `tail -c N` and `tail -c +N`; undefined without the option. */
function bytesOf(program: 'head' | 'tail', args: readonly string[], context: ProgramContext): ProgramResult | undefined {
  const [first = '', ...rest] = args;
  if (!first.startsWith('-c')) return undefined;
  const [amount = '', ...paths] = first === '-c' ? rest : [first.slice(2), ...rest];
  const [, sign, digits = ''] = /^(\+?)(\d+)$/.exec(amount) ?? unsupported(`${program} -c ${amount}`);
  const number = Number(digits);
  if (program === 'head' && sign) return unsupported(`head -c ${amount}`);
  return withFiles(program, paths, context, (texts) => {
    const bytes = bytesOfText(texts.join(''));
    const part =
      program === 'head' ? bytes.subarray(0, number) : bytes.subarray(sign ? Math.max(0, number - 1) : Math.max(0, bytes.length - number));
    return prints(textOfBytes(part));
  });
}
