import { posix } from 'node:path';
import { bytesOfText, textOfBytes } from './bytes.ts';
import { FileError, type SimulatedFiles } from './files.ts';
import { matchesPattern } from './patterns.ts';
import { UnsupportedScriptError } from './script.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';

/** Environment of a program. */
export interface ProgramContext {
  readonly env: ReadonlyMap<string, string>;
  readonly hostname: string;
  readonly now: number;
  readonly files: SimulatedFiles;
  /** Working directory. */
  readonly folder: string;
  /** Returns standard input. */
  readonly stdin: () => string;
}

/** End of a program. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Simulated run time. */
  readonly seconds: number;
  /** True if the program changes files. */
  readonly changesFiles?: boolean;
}

/** Thrown for a program that is not simulated. */
export class UnknownProgramError extends Error {
  constructor(readonly program: string) {
    super(`${program} is not simulated`);
  }
}

type Program = (args: readonly string[], context: ProgramContext) => ProgramResult;

const maxLines = 10_000;
const nothing: ProgramResult = { stdout: '', stderr: '', exitCode: 0, seconds: 0 };
const failed: ProgramResult = { ...nothing, exitCode: 1 };
const prints = (stdout: string): ProgramResult => ({ ...nothing, stdout });
const fails = (stderr: string, exitCode = 1): ProgramResult => ({ ...nothing, stderr: `${stderr}\n`, exitCode });
const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

const programs: Readonly<Record<string, Program>> = {
  true: () => nothing,
  ':': () => nothing,
  false: () => failed,
  exit: ([code = '0']) => ({ ...nothing, exitCode: exitCodeOf(code) }),
  sleep: (args) => sleep(args),
  echo: (args) => echo(args),
  printf: ([format = '', ...values]) => prints(escapes(format).replace(/%[sd]/g, () => values.shift() ?? '')),
  env: (args, { env }) => (args.length === 0 ? prints(variables(env)) : unsupported('env with arguments')),
  printenv: ([name], { env }) => (name === undefined ? prints(variables(env)) : env.has(name) ? prints(`${env.get(name)}\n`) : failed),
  hostname: (args, context) => hostname(args, context),
  whoami: () => prints('root\n'),
  id: ([option]) => prints(option === '-u' || option === '-g' ? '0\n' : 'uid=0(root) gid=0(root) groups=0(root)\n'),
  pwd: (_, { folder }) => prints(`${folder}\n`),
  uname: (args) => prints(args.includes('-a') ? 'Linux simulated 6.12.0 x86_64 GNU/Linux\n' : 'Linux\n'),
  date: (args, { now }) => date(args, new Date(now)),
  basename: ([path = '', suffix = '']) => prints(`${posix.basename(path, suffix)}\n`),
  dirname: ([path = '']) => prints(`${posix.dirname(path)}\n`),
  seq: (args) => seq(args.map(Number)),
  expr: (args) => expr(args),
  test: (args, context) => verdict(test(args, context)),
  '[': (args, context) => (args.at(-1) === ']' ? verdict(test(args.slice(0, -1), context)) : fails('[: missing ]', 2)),
  '[[': (args, context) => (args.at(-1) === ']]' ? verdict(test(args.slice(0, -1), context)) : fails('[[: missing ]]', 2)),
  ls: (args, context) => ls(args, context),
  cat: (args, context) => withFiles('cat', args, context, (texts) => prints(texts.join(''))),
  head: (args, context) => bytesOf('head', args, context) ?? partOf('head', args, context, (all, count) => all.slice(0, count)),
  tail: (args, context) =>
    follow(args, context) ??
    bytesOf('tail', args, context) ??
    partOf('tail', args, context, (all, count) => (count === 0 ? [] : all.slice(-count))),
  wc: (args, context) => count(args, context),
  grep: (args, context) => grep(args, context),
  tee: (args, context) => tee(args, context),
  touch: (args, context) => change('touch', args, context, (files, path) => files.write(path, files.read(path) ?? '')),
  rm: (args, context) => remove(args, context),
  mkdir: (args, context) => makeFolders(args, context),
  mv: (args, context) => copy('mv', args, context),
  cp: (args, context) => copy('cp', args, context),
  ln: (args, context) => link(args, context),
  dd: (args, context) => dd(args, context),
  find: (args, context) => find(args, context),
  tar: (args, context) => tar(args, context),
  sync: () => nothing,
};

/** Exit code that a shell makes of its operand. */
export function exitCodeOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) % 256 : 2;
}

/** True if the program is simulated. */
export function isProgram(path: string): boolean {
  return Object.hasOwn(programs, path.slice(path.lastIndexOf('/') + 1));
}

/** Runs a program. Throws UnknownProgramError for one that is not simulated, and UnsupportedScriptError for its unknown options. */
export function runProgram([path = '', ...args]: readonly string[], context: ProgramContext): ProgramResult {
  const program = isProgram(path) ? programs[path.slice(path.lastIndexOf('/') + 1)] : undefined;
  if (!program) throw new UnknownProgramError(path);
  return program(args, context);
}

function unsupported(what: string): never {
  throw new UnsupportedScriptError(`${what} is not simulated`);
}

const variables = (env: ProgramContext['env']): string => lines([...env].map(([name, value]) => `${name}=${value}`));
const verdict = (isTrue: boolean): ProgramResult => (isTrue ? nothing : failed);

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

function sleep(args: readonly string[]): ProgramResult {
  if (args.length === 0) return fails('sleep: missing operand');
  let seconds = 0;
  for (const text of args) {
    const match = /^(\d+(?:\.\d+)?|\.\d+)([smhd]?)$/.exec(text);
    if (text === 'infinity' || text === 'inf') seconds = Infinity;
    else if (match) seconds += Number(match[1]) * (units[match[2] ?? ''] ?? 1);
    else return fails(`sleep: invalid number '${text}'`);
  }
  return { ...nothing, seconds };
}

function echo(args: readonly string[]): ProgramResult {
  const options = new Set<string>();
  let at = 0;
  while (/^-[neE]+$/.test(args[at] ?? '')) for (const option of (args[at++] as string).slice(1)) options.add(option);
  const text = args.slice(at).join(' ');
  return prints((options.has('e') ? escapes(text) : text) + (options.has('n') ? '' : '\n'));
}

function escapes(text: string): string {
  return text.replace(/\\([ntr\\])/g, (_, char: string) => ({ n: '\n', t: '\t', r: '\r', '\\': '\\' })[char] as string);
}

/** `hostname`, with `-f` the first name of the host in /etc/hosts, with `-i` its address. */
function hostname([option, ...more]: readonly string[], { hostname: name, files }: ProgramContext): ProgramResult {
  if (option === undefined) return prints(`${name}\n`);
  if (more.length > 0 || !['-f', '-i', '-s'].includes(option)) return unsupported(`hostname ${option}`);
  const entries = linesOf(files.read('/etc/hosts') ?? '').map((line) => line.split(/\s+/));
  const [address, first = name] = entries.find(([, ...names]) => names.includes(name)) ?? [];
  if (option === '-i') return address === undefined ? fails(`hostname: ${name}: Host name lookup failure`) : prints(`${address}\n`);
  return prints(`${option === '-f' ? first : name.split('.', 1)[0]}\n`);
}

/** `date` in UTC, with `+FORMAT`. */
function date(args: readonly string[], time: Date): ProgramResult {
  const [format = '+%a %b %e %H:%M:%S %Z %Y', ...more] = args.filter((arg) => arg !== '-u' && arg !== '--utc');
  if (!format.startsWith('+') || more.length > 0) return unsupported(`date ${args.join(' ')}`);
  const iso = time.toISOString();
  const [weekday = '', day = '', month = ''] = time.toUTCString().split(/,? /);
  const fields: Readonly<Record<string, string>> = {
    '%': '%',
    a: weekday,
    b: month,
    d: day,
    e: String(time.getUTCDate()).padStart(2),
    F: iso.slice(0, 10),
    H: iso.slice(11, 13),
    M: iso.slice(14, 16),
    m: iso.slice(5, 7),
    N: `${iso.slice(20, 23)}000000`,
    R: iso.slice(11, 16),
    S: iso.slice(17, 19),
    s: String(Math.floor(time.getTime() / 1_000)),
    T: iso.slice(11, 19),
    Y: iso.slice(0, 4),
    Z: 'UTC',
    z: '+0000',
  };
  const field = (_: string, letter: string): string => fields[letter] ?? unsupported(`date +%${letter}`);
  return prints(`${format.slice(1).replace(/%(.)/g, field)}\n`);
}

function seq(numbers: readonly number[]): ProgramResult {
  const [first, step, last] = numbers.length === 1 ? [1, 1, numbers[0]] : numbers.length === 2 ? [numbers[0], 1, numbers[1]] : numbers;
  if (![first, step, last].every(Number.isSafeInteger) || step === 0 || numbers.length > 3) return unsupported('this use of seq');
  const length = Math.max(0, Math.floor((Number(last) - Number(first)) / Number(step)) + 1);
  if (length > maxLines) throw new UnsupportedScriptError('the output is too long');
  return prints(lines(Array.from({ length }, (_, i) => String(Number(first) + i * Number(step)))));
}

/** `expr A OPERATOR B` on integers. */
function expr([a = '', operator = '', b = '', ...more]: readonly string[]): ProgramResult {
  const [x, y] = [Number(a), Number(b)];
  if (more.length > 0 || !/^[-+*/%]$/.test(operator) || !Number.isInteger(x) || !Number.isInteger(y))
    return unsupported('this use of expr');
  if (y === 0 && (operator === '/' || operator === '%')) return fails('expr: division by zero', 2);
  const results: Readonly<Record<string, number>> = { '+': x + y, '-': x - y, '*': x * y, '/': Math.trunc(x / y), '%': x % y };
  const result = results[operator] ?? 0;
  return { ...prints(`${result}\n`), exitCode: result === 0 ? 1 : 0 };
}

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
function test(args: readonly string[], context: ProgramContext): boolean {
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

/** Splits the arguments of a program into its options, of which `allowed` are known, and the rest. */
function optionsOf(program: string, args: readonly string[], allowed: string): { options: Set<string>; rest: string[] } {
  const options = new Set<string>();
  const rest: string[] = [];
  for (const [i, arg] of args.entries()) {
    if (arg === '--') return { options, rest: [...rest, ...args.slice(i + 1)] };
    if (!/^-./.test(arg)) rest.push(arg);
    else
      for (const option of arg.slice(1))
        if (allowed.includes(option)) options.add(option);
        else return unsupported(`${program} ${arg}`);
  }
  return { options, rest };
}

function ls(args: readonly string[], { files, folder, now }: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('ls', args, 'laA1Rdhi');
  if (options.has('R')) return unsupported('ls -R');
  const paths = rest.length > 0 ? rest : ['.'];
  const time = new Date(now).toUTCString().replace(/^\w+, (\d+) (\w+) \d+ (\d+:\d+).*$/, '$2 $1 $3');
  const row = (name: string, path: string): string => {
    if (!options.has('l')) return name;
    const text = files.read(path);
    const mode = files.isLink(path) ? 'lrwxrwxrwx' : text === undefined ? 'drwxr-xr-x' : '-rw-r--r--';
    return `${mode}    1 root     root     ${String(text === undefined ? 4096 : bytesOfText(text).length).padStart(9)} ${time} ${name}`;
  };
  let [stdout, stderr] = ['', ''];
  for (const path of paths) {
    const absolute = posix.resolve(folder, path);
    if (files.isFolder(absolute) && !options.has('d')) {
      const names = files.list(absolute).filter((name) => options.has('a') || options.has('A') || !name.startsWith('.'));
      stdout += (paths.length > 1 ? `${path}:\n` : '') + lines(names.map((name) => row(name, posix.join(absolute, name))));
    } else if (files.isFolder(absolute) || files.read(absolute) !== undefined) stdout += lines([row(path, absolute)]);
    else stderr += `ls: ${path}: No such file or directory\n`;
  }
  return { ...prints(stdout), stderr, exitCode: stderr === '' ? 0 : 1 };
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

/** Splits text into its lines. */
function linesOf(text: string): string[] {
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  return all;
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
  return { ...runProgram(['tail', ...rest], context), seconds: Infinity };
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

function count(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('wc', args, 'lwc');
  if (options.size !== 1 || rest.length > 1) return unsupported('this use of wc');
  return withFiles('wc', rest, context, ([text = '']) => {
    const [amount] = [
      options.has('l')
        ? text.split('\n').length - 1
        : options.has('w')
          ? text.split(/\s+/).filter(Boolean).length
          : bytesOfText(text).length,
    ];
    return prints(`${amount}${rest[0] === undefined ? '' : ` ${rest[0]}`}\n`);
  });
}

/** Searches for text, which `^` and `$` tie to the ends of lines. Other regular expressions are not simulated. */
function grep(args: readonly string[], context: ProgramContext): ProgramResult {
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

/** Calls `make` for each path and reports the failures of the file system. */
function change(
  program: string,
  paths: readonly string[],
  { files, folder }: ProgramContext,
  make: (files: SimulatedFiles, path: string, name: string) => void,
): ProgramResult {
  let stderr = '';
  for (const name of paths) {
    if (/^-./.test(name)) return unsupported(`${program} ${name}`);
    try {
      make(files, posix.resolve(folder, name), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      stderr += `${program}: ${name}: ${error.message}\n`;
    }
  }
  return { ...nothing, stderr, exitCode: stderr === '' ? 0 : 1, changesFiles: true };
}

function tee(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('tee', args, 'a');
  const text = context.stdin();
  const result = change('tee', rest, context, (files, path) =>
    files.write(path, (options.has('a') ? (files.read(path) ?? '') : '') + text),
  );
  return { ...result, stdout: text };
}

function remove(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('rm', args, 'rRf');
  return change('rm', rest, context, (files, path) => {
    const isFolder = files.isFolder(path);
    if (isFolder && !options.has('r') && !options.has('R')) throw new FileError('Is a directory');
    if (isFolder || files.read(path) !== undefined) files.remove(path);
    else if (!options.has('f')) throw new FileError('No such file or directory');
  });
}

function makeFolders(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('mkdir', args, 'p');
  return change('mkdir', rest, context, (files, path) => {
    if (!options.has('p')) return files.makeFolder(path);
    const missing = [];
    for (let at = path; !files.isFolder(at); at = posix.dirname(at)) missing.unshift(at);
    for (const one of missing) files.makeFolder(one);
  });
}

/** `cp` or `mv` of one file. */
function copy(program: 'cp' | 'mv', args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf(program, args, 'fv');
  const [from = '', to = ''] = rest;
  if (rest.length !== 2) return unsupported(`this use of ${program}`);
  let stdout = '';
  const result = change(program, [from], context, (files, source) => {
    const text = files.read(source);
    if (text === undefined) throw new FileError(files.isFolder(source) ? 'Is a directory' : 'No such file or directory');
    const target = posix.resolve(context.folder, to);
    const isInFolder = files.isFolder(target);
    files.write(isInFolder ? posix.join(target, posix.basename(source)) : target, text);
    if (program === 'mv') files.remove(source);
    const name = isInFolder ? posix.join(to, posix.basename(source)) : to;
    if (options.has('v')) stdout = program === 'mv' ? `renamed '${from}' -> '${name}'\n` : `'${from}' -> '${name}'\n`;
  });
  return { ...result, stdout };
}

/** `ln -s TARGET LINK`. */
function link(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('ln', args, 'sf');
  const [target = '', path = posix.basename(target)] = rest;
  if (!options.has('s') || rest.length === 0 || rest.length > 2) return unsupported('this use of ln');
  return change('ln', [path], context, (files, place) => {
    const absolute = files.isFolder(place) && !files.isLink(place) ? posix.join(place, posix.basename(target)) : place;
    if (options.has('f') && (files.isLink(absolute) || files.read(absolute) !== undefined)) files.remove(absolute);
    files.link(absolute, posix.resolve(posix.dirname(absolute), target));
  });
}

const zeros = '/dev/zero';

/** `dd` from a file, /dev/zero or standard input to a file or standard output. */
function dd(args: readonly string[], context: ProgramContext): ProgramResult {
  const operands = new Map(args.map((arg) => [arg.split('=', 1)[0] as string, arg.slice(arg.indexOf('=') + 1)]));
  const other = [...operands.keys()].find((name) => !['if', 'of', 'bs', 'count', 'conv', 'status'].includes(name));
  if (other !== undefined) return unsupported(`dd ${other}`);
  const number = (name: string): number | undefined => {
    const text = operands.get(name);
    if (text === undefined) return undefined;
    const [, digits, unit = ''] = /^(\d+)([kKM]?)$/.exec(text) ?? unsupported(`dd ${name}=${text}`);
    return Number(digits) * ({ '': 1, k: 1_024, K: 1_024, M: 1_048_576 }[unit] as number);
  };
  const size = number('bs') ?? 512;
  const count = number('count');
  const source = operands.get('if');
  if (source === zeros && count === undefined) return unsupported('dd without an end');
  const length = count === undefined ? Infinity : count * size;
  if (length !== Infinity && length > maxZeros) return fails('dd: memory exhausted');
  const text =
    source === undefined
      ? context.stdin()
      : source === zeros
        ? '\0'.repeat(length)
        : context.files.read(posix.resolve(context.folder, source));
  if (text === undefined) return fails(`dd: can't open '${source}': No such file or directory`);
  const copied = text.slice(0, length);
  const [full, part] = [Math.floor(copied.length / size), copied.length % size === 0 ? 0 : 1];
  const summary = operands.get('status') === 'none' ? '' : `${full}+${part} records in\n${full}+${part} records out\n`;
  const target = operands.get('of');
  if (target === undefined) return { ...prints(copied), stderr: summary };
  const result = change('dd', [target], context, (files, path) => files.write(path, copied));
  return result.exitCode === 0 ? { ...result, stderr: summary } : result;
}
const maxZeros = 1_048_576;

/** `tar` from standard input or to standard output, as `kubectl cp` calls it. */
function tar(args: readonly string[], context: ProgramContext): ProgramResult {
  const words = args.filter((arg) => arg !== '--no-same-permissions' && arg !== '--no-same-owner');
  const at = words.indexOf('-C');
  const folder = at < 0 ? context.folder : posix.resolve(context.folder, words[at + 1] ?? '');
  const [mode = '', archive, ...names] = at < 0 ? words : [...words.slice(0, at), ...words.slice(at + 2)];
  const letters = mode.replace('-', '');
  if (archive !== '-' || !/^(?:x|c)m?f$|^xmf$/.test(letters)) return unsupported(`tar ${args.join(' ')}`);
  return letters.startsWith('x') ? unpack(folder, context) : pack(names, folder, context);
}

function unpack(folder: string, { files, stdin }: ProgramContext): ProgramResult {
  const entries = readTar(stdin());
  if (!entries) return fails('tar: this is not an archive of files and folders, and others are not simulated');
  for (const { name, text } of entries) {
    const path = posix.resolve(folder, name);
    const missing = [];
    for (let at = text === undefined ? path : posix.dirname(path); !files.isFolder(at); at = posix.dirname(at)) missing.unshift(at);
    try {
      for (const one of missing) files.makeFolder(one);
      if (text !== undefined) files.write(path, text);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { ...fails(`tar: ${name}: Cannot open: ${error.message}`, 2), changesFiles: true };
    }
  }
  return { ...nothing, changesFiles: true };
}

function pack(names: readonly string[], folder: string, { files }: ProgramContext): ProgramResult {
  const entries: TarEntry[] = [];
  let stderr = '';
  const add = (name: string): void => {
    const path = posix.resolve(folder, name);
    const text = files.read(path);
    if (text !== undefined) entries.push({ name: name.replace(/^\/+/, ''), text });
    else if (files.isFolder(path)) for (const one of files.list(path)) add(posix.join(name, one));
    else stderr += `tar: ${name}: Cannot stat: No such file or directory\n`;
  };
  for (const name of names) add(name);
  return { ...prints(writeTar(entries)), stderr, exitCode: stderr === '' ? 0 : 2 };
}

/** `find PATH… [-name PATTERN] [-type f|d]`. */
function find(args: readonly string[], { files, folder }: ProgramContext): ProgramResult {
  const at = args.findIndex((arg) => arg.startsWith('-'));
  const [paths, tests] = at < 0 ? [args, []] : [args.slice(0, at), args.slice(at)];
  const conditions: ((name: string, path: string) => boolean)[] = [];
  for (let i = 0; i < tests.length; i += 2) {
    const [test, value = ''] = [tests[i], tests[i + 1]];
    if (test === '-name') conditions.push((name) => matchesPattern(value, name));
    else if (test === '-type' && value === 'd') conditions.push((_, path) => files.isFolder(path));
    else if (test === '-type' && value === 'f') conditions.push((_, path) => !files.isFolder(path));
    else return unsupported(`find ${test}`);
  }
  const found: string[] = [];
  let stderr = '';
  const visit = (path: string, absolute: string): void => {
    if (conditions.every((isTrue) => isTrue(posix.basename(absolute), absolute))) found.push(path);
    if (!files.isFolder(absolute) || files.isLink(absolute)) return;
    for (const name of files.list(absolute)) visit(path === '/' ? `/${name}` : `${path}/${name}`, posix.join(absolute, name));
  };
  for (const path of paths.length > 0 ? paths : ['.']) {
    const absolute = posix.resolve(folder, path);
    if (files.isFolder(absolute) || files.read(absolute) !== undefined) visit(path, absolute);
    else stderr += `find: ${path}: No such file or directory\n`;
  }
  return { ...prints(lines(found)), stderr, exitCode: stderr === '' ? 0 : 1 };
}
