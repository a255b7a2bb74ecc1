import { posix } from 'node:path';
import { copy, dd, link, makeFolders, remove, tee, touch } from './file-programs.ts';
import { find, ls, tar } from './folder-programs.ts';
import {
  failed,
  fails,
  lines,
  linesOf,
  nothing,
  type Program,
  type ProgramContext,
  type ProgramResult,
  prints,
  unsupported,
} from './program.ts';
import { UnsupportedScriptError } from './script.ts';
import { test } from './test-program.ts';
import { cat, grep, head, tail, wc } from './text-programs.ts';

/** Thrown for a program that is not simulated. */
export class UnknownProgramError extends Error {
  constructor(readonly program: string) {
    super(`${program} is not simulated`);
  }
}

const maxLines = 10_000;

/** The simulated programs by name. */
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
  ls,
  cat,
  head,
  tail,
  wc,
  grep,
  tee,
  touch,
  rm: remove,
  mkdir: makeFolders,
  mv: (args, context) => copy('mv', args, context),
  cp: (args, context) => copy('cp', args, context),
  ln: link,
  dd,
  find,
  tar,
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
