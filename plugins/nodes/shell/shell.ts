import { posix } from 'node:path';
import { withoutTrailing } from '#sdk/internal';
import { evaluateArithmetic } from './arithmetic.ts';
import { type FileChange, FileError, isSameChange, SimulatedFiles } from './files.ts';
import { exitCodeOf, isProgram, runProgram } from './programs.ts';
import { isPattern, matchesPattern, matchingPaths, quotedPattern, withoutMatch } from './patterns.ts';
import {
  type Command,
  type Operation,
  parseScript,
  type Part,
  type Pipeline,
  type Script,
  UnsupportedScriptError,
  type Word,
} from './script.ts';
import { limitWork, maxWork, spendWork, workOfText } from './work.ts';

/** Environment of a simulated process. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string>>;
  readonly hostname: string;
  /** Time of the command in milliseconds since the epoch. */
  readonly now: number;
  /** Files of the container, which the command may change. */
  readonly files?: SimulatedFiles;
  /** Returns standard input; the default is empty. */
  readonly stdin?: () => string;
  /** Simulated run time after which the command is left as it is then. */
  readonly untilSeconds?: number;
  /** True if the output of a loop that repeats itself is wanted: that of its first iteration, and of its last ones before `untilSeconds`. */
  readonly showsRepetition?: boolean;
  /** Iterations of a loop that repeats itself which are played if their output is wanted and the time has no limit. */
  readonly maxRepetitions?: number;
  /** True if the process gets SIGTERM at the end of its time. */
  readonly isTerminated?: boolean;
  /** Explains to the user why a program is not found, which is an error of that command. The default is to throw UnknownProgramError. */
  readonly notFoundHint?: string;
}

/** Text that a process writes to one of its standard streams at one time. */
export interface OutputPart {
  /** Simulated run time. */
  readonly seconds: number;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** End of a simulated process. */
export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output and standard error in the order in which they were written. */
  readonly output: readonly OutputPart[];
  readonly exitCode: number;
  /** Simulated run time; Infinity if the process does not end by itself. */
  readonly seconds: number;
  /** Run times at which the process changed files. */
  readonly changeTimes: readonly number[];
  /** End of the process by its trap for SIGTERM; undefined without a trap, and if it did not get the signal. */
  readonly trapped?: { readonly seconds: number; readonly exitCode: number };
}

const noInput = (): string => '';
const shells = new Set(['sh', 'bash', 'ash', 'dash']);
const maxOutput = 1_048_576;
const maxNesting = 32;
const notFoundCode = 127;
/** Exit code of a shell that reads a variable which must be set (`${NAME:?}`). */
const notSetCode = 2;
const trappedSignals: ReadonlySet<string> = new Set(['TERM', '15', 'INT', '2', 'HUP', '1', 'QUIT', '3']);
/** Iterations of a loop that repeats itself whose output is shown. */
const shownIterations = 100;
const unitsPerProcess = 64;
const unitsPerCommand = 8;
const leastWork = 49_152;
/** Process number of the shell; those of background commands follow. */
const firstJob = 1;

/** Ends the whole process: it runs without end, or until the time that the context defines. */
class ProcessLeft extends Error {}

/** Ends the current shell, as `exit` does. */
class ShellExit extends Error {
  constructor(readonly code: number) {
    super();
  }
}

/** Leaves a function, as `return` does. */
class FunctionReturn extends Error {
  constructor(readonly code: number) {
    super();
  }
}

/** Leaves the iteration of a loop (`continue`), or the loop (`break`). */
class LoopJump extends Error {
  constructor(readonly isBreak: boolean) {
    super();
  }
}

/** Name of a program without its folder. */
export function programName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the script of `sh -c SCRIPT ARGUMENT…`, with -e if set; undefined for other commands. */
export function shellScript(
  command: readonly string[],
): { readonly script: string; readonly stopsOnError: boolean; readonly parameters: readonly string[] } | undefined {
  const [program = '', ...rest] = command;
  if (!shells.has(programName(program))) return undefined;
  let stopsOnError = false;
  for (const [i, word] of rest.entries()) {
    if (!/^-[a-z]+$/.test(word)) return undefined;
    stopsOnError ||= word.includes('e');
    const script = rest[i + 1];
    if (word.includes('c')) return script === undefined ? undefined : { script, stopsOnError, parameters: rest.slice(i + 2) };
  }
  return undefined;
}

/** True for a shell without a script, which reads its commands from standard input. */
export function isInteractiveShell(command: readonly string[]): boolean {
  return shells.has(programName(command[0] ?? '')) && command.slice(1).every((word) => /^-[il]+$/.test(word));
}

/**
 * Runs a command in the simulation: a program of a small set, or `sh -c` with a script. Throws UnknownProgramError or
 * UnsupportedScriptError for all else; the files may have been changed by then.
 */
export function runCommand(command: readonly string[], context: ProcessContext): ProcessResult {
  return new Process(command, context).run((shell, streams) => shell.program(command, streams));
}

/** Runs a script. */
export function runScript(script: string, context: ProcessContext): ProcessResult {
  return new Process([script], context).run((shell, streams) => shell.script(script, streams));
}

/** Output of a process. */
class Output {
  readonly #parts: { readonly seconds: number; readonly stream: OutputPart['stream']; text: string }[] = [];
  #length = 0;

  add(part: OutputPart): void {
    if (part.text === '') return;
    this.#length += part.text.length;
    if (this.#length > maxOutput) throw new UnsupportedScriptError('the output is too long');
    const last = this.#parts.at(-1);
    if (last?.seconds === part.seconds && last.stream === part.stream) last.text += part.text;
    else this.#parts.push({ ...part });
  }

  /** Returns what was written until a time, in the order of time: the end of the process ends its background commands. */
  upTo(seconds: number): Pick<ProcessResult, 'stdout' | 'stderr' | 'output'> {
    const output = this.#parts.filter((part) => part.seconds <= seconds).toSorted((a, b) => a.seconds - b.seconds);
    const textOf = (wanted: OutputPart['stream']): string =>
      output
        .filter(({ stream }) => stream === wanted)
        .map(({ text }) => text)
        .join('');
    return { stdout: textOf('stdout'), stderr: textOf('stderr'), output };
  }
}

/** Standard streams of a command. */
interface Streams {
  readonly stdin: () => string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/**
 * A simulated process with all shells in it: its time, its files, and the work that it may cost the server. The work grows with the text of the
 * command and of its environment, up to `maxWork`, not with what nested shells and variables make of it: a few variables that each run the
 * previous one twice are otherwise an endless loop.
 */
class Process {
  readonly files: SimulatedFiles;
  readonly #changeTimes: number[] = [];
  /** Calls the handler of SIGTERM; undefined without a trap. */
  trap: ((streams: Streams) => number | undefined) | undefined;
  readonly #allowance: number;
  /** Background commands that were started. */
  readonly #jobs: { readonly end: number; readonly code: number }[] = [];
  /** Time at which the last one of them ends. */
  #busyUntil = 0;
  /** Time at which the present background command started. */
  #backgroundSince: number | undefined;
  #nesting = 0;
  #repetitions = 0;
  #seconds = 0;

  constructor(
    words: readonly string[],
    readonly context: ProcessContext,
  ) {
    const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
    this.#allowance = Math.min(maxWork, leastWork + 4 * length(words) + length(Object.values(context.env)));
    this.files = context.files ?? new SimulatedFiles();
  }

  run(work: (shell: Shell, streams: Streams) => number): ProcessResult {
    const output = new Output();
    const { stdin = noInput } = this.context;
    const add = (stream: OutputPart['stream']) => (text: string) => output.add({ seconds: this.#seconds, stream, text });
    const streams: Streams = { stdin, stdout: add('stdout'), stderr: add('stderr') };
    let exitCode = 0;
    try {
      exitCode = limitWork(this.#allowance, () => {
        spendWork(unitsPerProcess);
        return work(new Shell(this, new Map(Object.entries(this.context.env)), [], false), streams);
      });
    } catch (error) {
      if (!(error instanceof ProcessLeft)) throw error;
      const seconds = this.#seconds;
      const trapped = this.context.isTerminated ? this.#terminate(streams) : undefined;
      return { ...output.upTo(seconds), exitCode, seconds, changeTimes: this.#changeTimes, ...(trapped && { trapped }) };
    }
    return { ...output.upTo(this.#seconds), exitCode, seconds: this.#seconds, changeTimes: this.#changeTimes };
  }

  /** Runs the handler of SIGTERM. A process whose handler does not end it continues. */
  #terminate(streams: Streams): ProcessResult['trapped'] {
    const { trap } = this;
    if (!trap) return undefined;
    this.#seconds = 0;
    try {
      const exitCode = limitWork(this.#allowance, () => trap(streams));
      return exitCode === undefined ? { seconds: Infinity, exitCode: 0 } : { seconds: this.#seconds, exitCode };
    } catch (error) {
      if (error instanceof ProcessLeft) return { seconds: Infinity, exitCode: 0 };
      throw error;
    }
  }

  get seconds(): number {
    return this.#seconds;
  }

  /** Lets time pass. */
  sleep(seconds: number): void {
    this.#seconds += seconds;
    if (this.#seconds === Infinity || this.#seconds > (this.context.untilSeconds ?? Infinity)) throw new ProcessLeft();
  }

  /** Lets the time pass in which a loop repeats itself, up to the iterations whose output is shown. */
  repeat(periodSeconds: number): void {
    const { untilSeconds = Infinity, showsRepetition = false, maxRepetitions = 0 } = this.context;
    if (periodSeconds > 0 && ++this.#repetitions < maxRepetitions) return;
    if (!showsRepetition || untilSeconds === Infinity || periodSeconds <= 0) return this.sleep(Infinity);
    const iterations = Math.floor((untilSeconds - this.#seconds) / periodSeconds) - shownIterations;
    if (iterations > 0) this.#seconds += iterations * periodSeconds;
  }

  /** Notes that files have changed. Throws UnsupportedScriptError if a command runs at the same time, which would see the change. */
  changed(): void {
    const isConcurrent = this.#backgroundSince === undefined ? this.#busyUntil > this.#seconds : this.#seconds > this.#backgroundSince;
    if (isConcurrent) throw new UnsupportedScriptError('a change of files while a background command runs is not simulated');
    if (this.#changeTimes.at(-1) !== this.#seconds) this.#changeTimes.push(this.#seconds);
  }

  /** Runs a command that takes no time of the current one. Returns its number. */
  background(run: () => number): number {
    const start = this.#seconds;
    const outer = this.#backgroundSince;
    this.#backgroundSince ??= start;
    let code = 0;
    try {
      code = run();
    } catch (error) {
      if (!(error instanceof ProcessLeft)) throw error;
    }
    const end = this.#seconds;
    this.#jobs.push({ end, code });
    this.#busyUntil = Math.max(this.#busyUntil, end);
    this.#seconds = start;
    this.#backgroundSince = outer;
    return this.#jobs.length;
  }

  /** Waits for a background command, or for all of them. Returns the exit code. */
  wait(job: number | undefined): number {
    const jobs = job === undefined ? this.#jobs : this.#jobs.slice(job - 1, job);
    this.sleep(Math.max(0, ...jobs.map(({ end }) => end - this.#seconds)));
    return job === undefined ? 0 : (jobs[0]?.code ?? notFoundCode);
  }

  /** Calls `run` for a shell or command within the current one. */
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

/** Builtins that change the shell itself. Each returns its exit code. */
const builtins: Readonly<Record<string, (shell: Shell, args: readonly string[], streams: Streams) => number>> = {
  exit(shell, [code]) {
    throw new ShellExit(code === undefined ? shell.status : exitCodeOf(code));
  },
  set(shell, args) {
    if (args.some((word) => !/^[-+][eux]+$/.test(word))) throw new UnsupportedScriptError(`set ${args.join(' ')} is not simulated`);
    for (const word of args) if (word.includes('e')) shell.stopsOnError = word.startsWith('-');
    return 0;
  },
  return(shell, [code]) {
    throw new FunctionReturn(code === undefined ? shell.status : exitCodeOf(code));
  },
  trap: (shell, args) => shell.setTrap(args),
  break() {
    throw new LoopJump(true);
  },
  continue() {
    throw new LoopJump(false);
  },
  export: (shell, args) => shell.assignAll(args),
  local: (shell, args) => shell.assignAll(args),
  unset(shell, args) {
    for (const name of args) shell.variables.delete(name);
    return 0;
  },
  cd(shell, [folder = shell.variables.get('HOME') ?? '/'], streams) {
    const path = posix.resolve(shell.folder, folder);
    if (shell.process.files.isFolder(path)) shell.folder = path;
    else streams.stderr(`sh: cd: can't cd to ${folder}: No such file or directory\n`);
    return shell.folder === path ? 0 : 1;
  },
  wait(shell, numbers) {
    const codes = numbers.map((number) => shell.process.wait(Number(number) - firstJob));
    return codes.length > 0 ? (codes.at(-1) as number) : shell.process.wait(undefined);
  },
  eval: (shell, args, streams) => shell.process.nested(() => shell.commands(parsed(args.join(' ')), streams)),
  exec(shell, args, streams) {
    if (args.length === 0) return 0;
    throw new ShellExit(shell.program(args, streams));
  },
  command(_, args, streams) {
    if (args[0] !== '-v') throw new UnsupportedScriptError('this use of command is not simulated');
    const name = args[1] ?? '';
    if (!isProgram(name) && !Object.hasOwn(builtins, name) && !shells.has(name)) return 127;
    streams.stdout(`${name}\n`);
    return 0;
  },
};

/** A shell with its variables. */
class Shell {
  readonly variables: Map<string, string>;
  functions: ReadonlyMap<string, Command> = new Map();
  folder = '/';
  /** Number of the last background command. */
  lastJob: number | undefined;
  /** Exit code of the last command. */
  status = 0;

  constructor(
    readonly process: Process,
    variables: ReadonlyMap<string, string>,
    public parameters: readonly string[],
    public stopsOnError: boolean,
  ) {
    spendWork(variables.size);
    this.variables = new Map(variables);
  }

  /** Runs a script to its end, or to `exit`. */
  script(text: string, streams: Streams): number {
    try {
      return this.process.nested(() => this.commands(parsed(text), streams));
    } catch (error) {
      if (error instanceof ShellExit) return error.code;
      if (error instanceof LoopJump) return 0;
      if (error instanceof FunctionReturn) return error.code;
      throw error;
    }
  }

  /** `trap ACTION SIGNAL…`: of the signals, only SIGTERM arrives. */
  setTrap([action = '', ...signals]: readonly string[]): number {
    const names = signals.map((signal) => signal.replace(/^SIG/, ''));
    const other = names.find((name) => !trappedSignals.has(name));
    if (names.length === 0 || other !== undefined) throw new UnsupportedScriptError(`trap ${other ?? action} is not simulated`);
    if (!names.some((name) => name === 'TERM' || name === '15')) return 0;
    const handle = (streams: Streams): number | undefined => {
      try {
        this.commands(parsed(action), streams);
        return undefined;
      } catch (error) {
        if (error instanceof ShellExit) return error.code;
        throw error;
      }
    };
    this.process.trap = action === '-' ? undefined : handle;
    return 0;
  }

  commands(script: Script, streams: Streams, isCondition = false): number {
    let result = 0;
    for (const { join, pipeline } of script) {
      if ((join === '&&' && result !== 0) || (join === '||' && result === 0)) continue;
      result = this.#pipeline(pipeline, streams);
      this.status = result;
      if (result !== 0 && this.stopsOnError && !isCondition && !pipeline.isNegated && !isTested(script, pipeline))
        throw new ShellExit(result);
    }
    return result;
  }

  /** Runs a program, or a shell with a script. */
  program(words: readonly string[], streams: Streams): number {
    const shell = shellScript(words);
    if (shell) {
      const { script, stopsOnError, parameters } = shell;
      return this.#copy(parameters, stopsOnError).script(script, streams);
    }
    const { process, folder } = this;
    const { hostname, now } = process.context;
    const program = {
      env: this.variables,
      hostname,
      now: now + process.seconds * 1_000,
      files: process.files,
      folder,
      stdin: streams.stdin,
    };
    const { notFoundHint } = process.context;
    const [name = ''] = words;
    if (notFoundHint !== undefined && !isProgram(name)) {
      streams.stderr(`sh: ${name}: not found (${notFoundHint})\n`);
      return notFoundCode;
    }
    const { stdout, stderr, exitCode, seconds, changesFiles } = runProgram(words, program);
    spendWork(workOfText(stdout));
    if (changesFiles) process.changed();
    streams.stdout(stdout);
    streams.stderr(stderr);
    process.sleep(seconds);
    return exitCode;
  }

  assignAll(words: readonly string[]): number {
    for (const word of words) {
      const [name, value] = assignment(word) ?? [];
      if (name !== undefined) this.variables.set(name, value as string);
    }
    return 0;
  }

  #copy(parameters: readonly string[], stopsOnError: boolean): Shell {
    const copy = new Shell(this.process, this.variables, parameters, stopsOnError);
    copy.folder = this.folder;
    return copy;
  }

  #subshell(): Shell {
    const copy = this.#copy(this.parameters, this.stopsOnError);
    copy.functions = this.functions;
    copy.status = this.status;
    copy.lastJob = this.lastJob;
    return copy;
  }

  #pipeline({ isNegated, commands }: Pipeline, streams: Streams): number {
    const [first] = commands;
    if (commands.length === 1 && first) return negated(this.#command(first, streams), isNegated);
    let { stdin } = streams;
    let result = 0;
    for (const [i, command] of commands.entries()) {
      let output = '';
      const stdout = i === commands.length - 1 ? streams.stdout : (text: string) => void (output += text);
      const shell = this.#subshell();
      const input = stdin;
      result = inSubshell(() => shell.#command(command, { ...streams, stdin: input, stdout }));
      const piped = output;
      stdin = () => piped;
    }
    return negated(result, isNegated);
  }

  #command(command: Command, streams: Streams): number {
    spendWork(unitsPerCommand);
    const redirected = this.#redirect(command, streams);
    if (!redirected) return 1;
    return this.process.nested(() => this.#run(command, redirected));
  }

  /** A command whose output a file does not take ends with an error. */
  #run(command: Command, streams: Streams): number {
    try {
      return this.#compound(command, streams);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      streams.stderr(`sh: write error: ${error.message}\n`);
      return 1;
    }
  }

  #compound(command: Command, redirected: Streams): number {
    if (command.kind === 'simple') return this.#simple(command.words, redirected);
    if (command.kind === 'if') return this.#if(command, redirected);
    if (command.kind === 'for') return this.#for(command, redirected);
    if (command.kind === 'while') return this.#while(command, redirected);
    if (command.kind === 'function') return this.#define(command);
    if (command.kind === 'case') return this.#case(command, redirected);
    if (command.kind === 'background') return this.#background(command, redirected);
    if (!command.isSubshell) return this.commands(command.body, redirected);
    const shell = this.#subshell();
    return inSubshell(() => shell.commands(command.body, redirected));
  }

  #simple(words: readonly Word[], streams: Streams): number {
    let count = 0;
    while (count < words.length && isAssignment(words[count] as Word)) count += 1;
    const assigned = words.slice(0, count).map((word) => assignment(this.#text(word)) as [string, string]);
    const fields = this.#words(words.slice(count));
    const [name] = fields;
    if (name === undefined) {
      for (const [variable, value] of assigned) this.variables.set(variable, value);
      return words.some((word) => word.some(({ kind }) => kind === 'substitution')) ? this.status : 0;
    }
    const shell = assigned.length > 0 ? this.#subshell() : this;
    for (const [variable, value] of assigned) shell.variables.set(variable, value);
    const body = shell.functions.get(name);
    if (body) return shell.#call(body, fields.slice(1), streams);
    const builtin = Object.hasOwn(builtins, name) ? builtins[name] : undefined;
    return builtin ? builtin(shell, fields.slice(1), streams) : shell.program(fields, streams);
  }

  /** Expands the words of a command. Those of `[[ … ]]` are not split. */
  #words(words: readonly Word[]): string[] {
    const [[first] = []] = words;
    const isTest = first?.kind === 'text' && first.text === '[[' && !first.isQuoted;
    if (!isTest) return words.flatMap((word) => this.#fields(word));
    const hasPattern = words.slice(1).some((word) => word.some((part) => part.kind === 'text' && !part.isQuoted && isPattern(part.text)));
    if (hasPattern) throw new UnsupportedScriptError('a pattern in [[ ]] is not simulated');
    return words.map((word) => this.#text(word));
  }

  #define({ name, body }: Extract<Command, { kind: 'function' }>): number {
    spendWork(this.functions.size);
    this.functions = new Map([...this.functions, [name, body]]);
    return 0;
  }

  #call(body: Command, args: readonly string[], streams: Streams): number {
    const { parameters } = this;
    this.parameters = [parameters[0] ?? 'sh', ...args];
    try {
      return this.#command(body, streams);
    } catch (error) {
      if (error instanceof FunctionReturn) return error.code;
      throw error;
    } finally {
      this.parameters = parameters;
    }
  }

  #if({ branches, otherwise }: Extract<Command, { kind: 'if' }>, streams: Streams): number {
    for (const { condition, body } of branches) if (this.commands(condition, streams, true) === 0) return this.commands(body, streams);
    return this.commands(otherwise, streams);
  }

  #case({ word, branches }: Extract<Command, { kind: 'case' }>, streams: Streams): number {
    const text = this.#text(word);
    const branch = branches.find(({ patterns }) => patterns.some((pattern) => matchesPattern(this.#pattern(pattern), text)));
    return branch ? this.commands(branch.body, streams) : 0;
  }

  #background({ body }: Extract<Command, { kind: 'background' }>, streams: Streams): number {
    const shell = this.#subshell();
    const run = (): number => inSubshell(() => shell.commands(body, { ...streams, stdin: noInput }));
    this.lastJob = firstJob + this.process.background(run);
    return 0;
  }

  #for({ variable, words, body }: Extract<Command, { kind: 'for' }>, streams: Streams): number {
    let result = 0;
    for (const field of words.flatMap((word) => this.#fields(word))) {
      this.variables.set(variable, field);
      const next = this.#iteration(body, streams);
      if (next === 'break') break;
      result = next;
    }
    return result;
  }

  /** A loop whose iteration changes neither variables nor files never ends. */
  #while({ condition, body, isUntil }: Extract<Command, { kind: 'while' }>, streams: Streams): number {
    let result = 0;
    for (;;) {
      const before = this.#state();
      const { seconds } = this.process;
      if ((this.commands(condition, streams, true) === 0) === isUntil) return result;
      const next = this.#iteration(body, streams);
      if (next === 'break') return result;
      result = next;
      if (isSameState(before, this.#state())) this.process.repeat(this.process.seconds - seconds);
    }
  }

  /** State that an iteration of a loop depends on: the variables, the files, and the options of the shell. */
  #state(): ShellState {
    const { variables, folder, stopsOnError } = this;
    const { changes } = this.process.files;
    spendWork((variables.size + changes.size) >> 2);
    return { variables: new Map(variables), changes: new Map(changes), folder, stopsOnError };
  }

  #iteration(body: Script, streams: Streams): number | 'break' {
    spendWork(unitsPerCommand);
    try {
      return this.commands(body, streams);
    } catch (error) {
      if (!(error instanceof LoopJump)) throw error;
      return error.isBreak ? 'break' : 0;
    }
  }

  /** Returns the streams of a command; undefined if a file cannot be opened. */
  #redirect({ redirections }: Command, streams: Streams): Streams | undefined {
    let result = streams;
    for (const { stream, operator, target } of redirections) {
      const name = this.#text(target);
      const path = posix.resolve(this.folder, name);
      if (operator === '<<') {
        const text = name;
        result = { ...result, stdin: () => text };
        continue;
      }
      if (operator === '<') {
        const text = path === '/dev/null' ? '' : this.process.files.read(path);
        if (text === undefined) return void streams.stderr(`sh: can't open ${name}: no such file\n`);
        result = { ...result, stdin: () => text };
        continue;
      }
      const sink = operator === '>&' ? sinkOf(name, result) : this.#sink(path, name, operator === '>>', result);
      if (!sink) return undefined;
      result = { ...result, [stream === 2 ? 'stderr' : 'stdout']: sink };
    }
    return result;
  }

  /** Opens a file for output. */
  #sink(path: string, name: string, appends: boolean, streams: Streams): Streams['stdout'] | undefined {
    if (path === '/dev/null') return () => {};
    if (path === '/dev/stdout' || path === '/dev/stderr') return streams[path.slice('/dev/'.length) as 'stdout' | 'stderr'];
    const { files } = this.process;
    const write = (text: string): void => {
      const next = (files.read(path) ?? '') + text;
      spendWork(next.length >> 4);
      files.write(path, next);
      this.process.changed();
    };
    try {
      if (appends) write('');
      else files.write(path, '');
      this.process.changed();
      return (text) => text !== '' && write(text);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return void streams.stderr(`sh: can't create ${name}: ${error.message}\n`);
    }
  }

  /** Expands a word to one text, without splitting. */
  #text(word: Word): string {
    const text = word.map((part) => this.#expand(part)).join('');
    spendWork(workOfText(text));
    return text;
  }

  /** Expands a word to a pattern, in which quoted characters stand for themselves. */
  #pattern(word: Word): string {
    return word.map((part) => (part.isQuoted ? quotedPattern(this.#expand(part)) : this.#expand(part))).join('');
  }

  /** Expands a word to fields: results of unquoted expansions are split at blanks, and patterns become the paths that they match. */
  #fields(word: Word): string[] {
    const hasPattern = word.some((part) => !part.isQuoted && part.kind === 'text' && isPattern(part.text));
    if (!hasPattern) return this.#split(word);
    const pattern = this.#pattern(word);
    const paths = matchingPaths(pattern, this.folder, this.process.files);
    return paths.length > 0 ? paths : [this.#text(word)];
  }

  #split(word: Word): string[] {
    const fields: string[] = [];
    let current: string | undefined;
    for (const part of word) {
      const isList = part.kind === 'variable' && part.name === '@' && part.isQuoted;
      const text = isList ? '' : this.#expand(part);
      if (isList) {
        const [head, ...rest] = this.parameters.slice(1);
        if (head !== undefined) current = (current ?? '') + head;
        for (const parameter of rest) {
          fields.push(current ?? '');
          current = parameter;
        }
      } else if (part.kind === 'text' || part.isQuoted) {
        current = (current ?? '') + text;
      } else {
        const pieces = text.split(/[ \t\n]+/);
        for (const [i, piece] of pieces.entries()) {
          if (i > 0 && current !== undefined) {
            fields.push(current);
            current = undefined;
          }
          if (piece !== '') current = (current ?? '') + piece;
        }
      }
    }
    if (current !== undefined) fields.push(current);
    for (const field of fields) spendWork(workOfText(field));
    return fields;
  }

  #expand(part: Part): string {
    if (part.kind === 'text') return part.text;
    const value = this.#value(part);
    spendWork(value.length);
    return value;
  }

  #value(part: Exclude<Part, { kind: 'text' }>): string {
    if (part.kind === 'variable') return part.operation ? this.#operate(part.name, part.operation) : this.#variable(part.name);
    if (part.kind === 'arithmetic') return String(evaluateArithmetic(this.#text(part.expression), (name) => this.#variable(name)));
    let output = '';
    const shell = this.#subshell();
    const streams: Streams = { stdin: noInput, stdout: (text) => (output += text), stderr: () => {} };
    this.status = this.process.nested(() => inSubshell(() => shell.commands(part.script, streams)));
    return withoutTrailing(output, '\n');
  }

  #operate(name: string, { operator, word }: Operation): string {
    const value = this.#variable(name);
    const isSet = operator.startsWith(':') ? value !== '' : value !== '' || this.variables.has(name);
    if (operator === 'length') return String([...value].length);
    if (operator.endsWith('+')) return isSet ? this.#text(word) : '';
    if (/^[#%]/.test(operator))
      return withoutMatch(value, this.#pattern(word), operator.startsWith('#') ? 'start' : 'end', operator.length === 2);
    if (isSet) return value;
    if (operator.endsWith('?')) throw new ShellExit(notSetCode);
    const fallback = this.#text(word);
    if (operator.endsWith('=')) this.variables.set(name, fallback);
    return fallback;
  }

  #variable(name: string): string {
    if (name === '!') return this.lastJob === undefined ? '' : String(this.lastJob);
    if (name === '?') return String(this.status);
    if (name === '$') return '1';
    if (name === '#') return String(Math.max(0, this.parameters.length - 1));
    if (name === '@' || name === '*') return this.parameters.slice(1).join(' ');
    if (name === 'RANDOM') throw new UnsupportedScriptError('random numbers are not simulated');
    return (/^\d$/.test(name) ? this.parameters[Number(name)] : this.variables.get(name)) ?? '';
  }
}

interface ShellState {
  readonly variables: ReadonlyMap<string, string>;
  readonly changes: ReadonlyMap<string, FileChange>;
  readonly folder: string;
  readonly stopsOnError: boolean;
}

function isSameState(a: ShellState, b: ShellState): boolean {
  const isSame =
    a.folder === b.folder &&
    a.stopsOnError === b.stopsOnError &&
    a.variables.size === b.variables.size &&
    a.changes.size === b.changes.size;
  if (!isSame) return false;
  for (const [name, value] of a.variables) if (b.variables.get(name) !== value) return false;
  for (const [path, change] of a.changes) if (!isSameChange(b.changes.get(path), change)) return false;
  return true;
}

function parsed(text: string): Script {
  spendWork(text.length >> 1);
  return parseScript(text);
}

/** True if the command's failure decides about the next one (`a && b`), for which `set -e` does not end the shell. */
function isTested(script: Script, pipeline: Pipeline): boolean {
  const next = script[script.findIndex((one) => one.pipeline === pipeline) + 1];
  return next !== undefined && next.join !== ';';
}

function negated(code: number, isNegated: boolean): number {
  return isNegated ? Number(code === 0) : code;
}

/** Runs commands whose `exit` ends only them. */
function inSubshell(run: () => number): number {
  try {
    return run();
  } catch (error) {
    if (error instanceof ShellExit || error instanceof FunctionReturn) return error.code;
    throw error;
  }
}

function sinkOf(name: string, streams: Streams): Streams['stdout'] {
  if (name === '1') return streams.stdout;
  if (name === '2') return streams.stderr;
  throw new UnsupportedScriptError(`the redirection >&${name} is not simulated`);
}

/** Splits `NAME=VALUE`. */
function assignment(word: string): [name: string, value: string] | undefined {
  const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word);
  return match ? [match[1] as string, match[2] as string] : undefined;
}

/** True for a word that begins with an unquoted `NAME=`. */
function isAssignment([first]: Word): boolean {
  return first?.kind === 'text' && !first.isQuoted && /^[A-Za-z_]\w*=/.test(first.text);
}
