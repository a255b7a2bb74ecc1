import { parseScript, type ShellCommand, UnsupportedScriptError } from './shell-words.ts';

/** Environment of a simulated process. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string>>;
  readonly hostname: string;
  /** Time of the command in milliseconds since the epoch. */
  readonly now: number;
  /** Content of files by path; the only files that exist. */
  readonly files?: Readonly<Record<string, string>>;
}

/** End of a simulated process. */
export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Simulated run time; Infinity if the process does not end by itself. */
  readonly seconds: number;
}

/** Thrown for a program that is not simulated. */
export class UnknownProgramError extends Error {
  constructor(readonly program: string) {
    super(`${program} is not simulated`);
  }
}

const shells = new Set(['sh', 'bash', 'ash', 'dash']);
const maxOutput = 1_048_576;
const maxNesting = 32;
const unitsPerCommand = 8;

/**
 * Work that a command may cost the server. It grows with the text of the command and of its environment, not with what nested shells and
 * variables make of it: a few variables that each run the previous one twice are otherwise an endless loop.
 */
class Allowance {
  #units: number;
  #nesting = 0;

  constructor(words: readonly string[], { env }: ProcessContext) {
    const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
    this.#units = 8_192 + 4 * length(words) + length(Object.values(env));
  }

  /** Throws if the work exceeds the allowance. */
  spend(units: number): void {
    this.#units -= units;
    if (this.#units < 0) throw new UnsupportedScriptError('the script does too much');
  }

  /** Calls `run` for a shell within the current one. */
  nested<T>(run: () => T): T {
    if (this.#nesting >= maxNesting) throw new UnsupportedScriptError('the shells are nested too deeply');
    this.#nesting += 1;
    try {
      return run();
    } finally {
      this.#nesting -= 1;
    }
  }
}

/** Name of a program without its folder. */
export function programName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the script of `sh -c SCRIPT`, with -e if set; undefined for other commands. */
export function shellScript(command: readonly string[]): { readonly script: string; readonly stopsOnError: boolean } | undefined {
  const [program = '', ...rest] = command;
  if (!shells.has(programName(program))) return undefined;
  let stopsOnError = false;
  for (const [i, word] of rest.entries()) {
    if (!/^-[a-z]+$/.test(word)) return undefined;
    stopsOnError ||= word.includes('e');
    if (word.includes('c')) return rest[i + 1] === undefined ? undefined : { script: rest[i + 1] as string, stopsOnError };
  }
  return undefined;
}

/** True for a shell without a script, which reads its commands from standard input. */
export function isInteractiveShell(command: readonly string[]): boolean {
  return shells.has(programName(command[0] ?? '')) && command.slice(1).every((word) => /^-[il]+$/.test(word));
}

/**
 * Runs a command in the simulation: a program of a small set, or `sh -c` with a script of simple commands. Throws UnknownProgramError
 * or UnsupportedScriptError for all else.
 */
export function runCommand(command: readonly string[], context: ProcessContext): ProcessResult {
  return runWithin(new Allowance(command, context), command, context);
}

/** Runs a script of simple commands. */
export function runScript(script: string, context: ProcessContext): ProcessResult {
  return runCommands(new Allowance([script], context), script, context, false);
}

function runWithin(allowance: Allowance, command: readonly string[], context: ProcessContext): ProcessResult {
  const shell = shellScript(command);
  if (!shell) return runProgram(command, context);
  return allowance.nested(() => runCommands(allowance, shell.script, context, shell.stopsOnError));
}

function runCommands(allowance: Allowance, script: string, context: ProcessContext, mayStop: boolean): ProcessResult {
  let stopsOnError = mayStop;
  allowance.spend(Object.keys(context.env).length);
  const env: Record<string, string> = { ...context.env };
  const result = { stdout: '', stderr: '', exitCode: 0, seconds: 0 };
  for (const { join, expand } of parseScript(script)) {
    if ((join === '&&' && result.exitCode !== 0) || (join === '||' && result.exitCode === 0)) continue;
    allowance.spend(unitsPerCommand);
    const command = expand((name) => {
      const value = name === '?' ? String(result.exitCode) : name === '$' ? '1' : (env[name] ?? '');
      allowance.spend(value.length);
      return value;
    });
    const words = assign(command.words, env);
    if (words.length === 0) continue;
    if (words[0] === 'exit') return { ...result, exitCode: exitCodeOf(words[1] ?? String(result.exitCode)) };
    if (words[0] === 'set') {
      stopsOnError ||= words.slice(1).some((word) => /^-[a-z]*e/.test(word));
      continue;
    }
    const nested = words[0] === 'exec' ? words.slice(1) : words;
    const one = runWithin(allowance, nested, { ...context, env });
    if (!shellScript(nested)) allowance.spend(one.stdout.length);
    add(result, command, one);
    if (result.seconds === Infinity || words[0] === 'exec' || (stopsOnError && result.exitCode !== 0)) break;
  }
  return result;
}

/** Takes leading assignments (`A=1`, also after `export`) into the environment and returns the other words. */
function assign(words: readonly string[], env: Record<string, string>): readonly string[] {
  const rest = words[0] === 'export' ? words.slice(1) : [...words];
  while (rest[0] !== undefined) {
    const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(rest[0]);
    if (!match) break;
    env[match[1] as string] = match[2] as string;
    rest.shift();
  }
  return words[0] === 'export' ? [] : rest;
}

function add(
  total: { stdout: string; stderr: string; exitCode: number; seconds: number },
  command: ShellCommand,
  one: ProcessResult,
): void {
  const out = command.isSilent ? '' : one.stdout;
  total.stdout += command.toStderr ? '' : out;
  total.stderr += (command.toStderr ? out : '') + one.stderr;
  if (total.stdout.length + total.stderr.length > maxOutput) throw new UnsupportedScriptError('the output is too long');
  total.exitCode = one.exitCode;
  total.seconds += one.seconds;
}

function exitCodeOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) % 256 : 2;
}

const nothing: ProcessResult = { stdout: '', stderr: '', exitCode: 0, seconds: 0 };
const prints = (stdout: string): ProcessResult => ({ ...nothing, stdout });
const fails = (stderr: string, exitCode = 1): ProcessResult => ({ ...nothing, stderr, exitCode });

const programs: Readonly<Record<string, (args: readonly string[], context: ProcessContext) => ProcessResult>> = {
  true: () => nothing,
  ':': () => nothing,
  false: () => ({ ...nothing, exitCode: 1 }),
  exit: ([code = '0']) => ({ ...nothing, exitCode: exitCodeOf(code) }),
  sleep: (args) => sleep(args),
  echo: (args) => echo(args),
  printf: ([format = '', ...values]) => prints(escapes(format).replace(/%[sd]/g, () => values.shift() ?? '')),
  env: (_, { env }) => prints(lines(Object.entries(env).map(([name, value]) => `${name}=${value}`))),
  printenv: ([name], { env }) =>
    name === undefined
      ? prints(lines(Object.entries(env).map(([key, value]) => `${key}=${value}`)))
      : Object.hasOwn(env, name)
        ? prints(`${env[name]}\n`)
        : { ...nothing, exitCode: 1 },
  hostname: (_, { hostname }) => prints(`${hostname}\n`),
  whoami: () => prints('root\n'),
  id: () => prints('uid=0(root) gid=0(root) groups=0(root)\n'),
  pwd: () => prints('/\n'),
  uname: (args) => prints(args.includes('-a') ? 'Linux simulated 6.12.0 x86_64 GNU/Linux\n' : 'Linux\n'),
  date: (args, { now }) => prints(args[0] === '+%s' ? `${Math.floor(now / 1_000)}\n` : `${new Date(now).toUTCString()}\n`),
  ls: ([path = '/', ...rest], context) => ls(path.startsWith('-') ? (rest[0] ?? '/') : path, context),
  cat: (args, { files = {} }) => {
    const missing = args.find((path) => !Object.hasOwn(files, path));
    if (missing !== undefined) return fails(`cat: can't open '${missing}': No such file or directory\n`);
    return prints(args.map((path) => files[path]).join(''));
  },
};

function runProgram(command: readonly string[], context: ProcessContext): ProcessResult {
  const [path = '', ...args] = command;
  const name = programName(path);
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (!program) throw new UnknownProgramError(path);
  return program(args, context);
}

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

function sleep(args: readonly string[]): ProcessResult {
  if (args.length === 0) return fails('sleep: missing operand\n');
  let seconds = 0;
  for (const text of args) {
    const match = /^(\d+(?:\.\d+)?|\.\d+)([smhd]?)$/.exec(text);
    if (text === 'infinity' || text === 'inf') seconds = Infinity;
    else if (match) seconds += Number(match[1]) * (units[match[2] ?? ''] ?? 1);
    else return fails(`sleep: invalid number '${text}'\n`);
  }
  return { ...nothing, seconds };
}

function echo(args: readonly string[]): ProcessResult {
  const options = new Set<string>();
  let at = 0;
  while (/^-[neE]+$/.test(args[at] ?? '')) for (const option of (args[at++] as string).slice(1)) options.add(option);
  const text = args.slice(at).join(' ');
  return prints((options.has('e') ? escapes(text) : text) + (options.has('n') ? '' : '\n'));
}

function escapes(text: string): string {
  return text.replace(/\\([ntr\\])/g, (_, char: string) => ({ n: '\n', t: '\t', r: '\r', '\\': '\\' })[char] as string);
}

function ls(path: string, { files = {} }: ProcessContext): ProcessResult {
  const folder = path.endsWith('/') ? path : `${path}/`;
  const base = folder === '/' ? ['bin', 'dev', 'etc', 'home', 'proc', 'root', 'sys', 'tmp', 'usr', 'var'] : [];
  const found = Object.keys(files).flatMap((file) =>
    file.startsWith(folder) ? [file.slice(folder.length).split('/', 1)[0] as string] : [],
  );
  const names = [...new Set([...base, ...found])].sort();
  if (names.length > 0) return prints(lines(names));
  return Object.hasOwn(files, path) ? prints(`${path}\n`) : fails(`ls: ${path}: No such file or directory\n`);
}

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');
