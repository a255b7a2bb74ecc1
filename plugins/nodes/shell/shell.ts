import { posix } from 'node:path';
import { Expansion, type Scope } from './expansion.ts';
import { type FileChange, FileError, isSameChange } from './files.ts';
import { FunctionReturn, LoopJump, ShellExit } from './jumps.ts';
import { isPattern, matchesPattern } from './patterns.ts';
import { noInput, notFoundCode, Process, type ProcessContext, type ProcessResult, type Streams } from './process.ts';
import { exitCodeOf, isProgram, runProgram } from './programs.ts';
import { type Command, parseScript, type Pipeline, type Script, UnsupportedScriptError, type Word } from './script.ts';
import { spendWork, workOfText } from './work.ts';

const shells = new Set(['sh', 'bash', 'ash', 'dash']);
const trappedSignals: ReadonlySet<string> = new Set(['TERM', '15', 'INT', '2', 'HUP', '1', 'QUIT', '3']);
const unitsPerCommand = 8;
/** Process number of the shell; those of background commands follow. */
const firstJob = 1;

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
  return run(command, context, (shell, streams) => shell.program(command, streams));
}

/** Runs a script. */
export function runScript(script: string, context: ProcessContext): ProcessResult {
  return run([script], context, (shell, streams) => shell.script(script, streams));
}

function run(words: readonly string[], context: ProcessContext, work: (shell: Shell, streams: Streams) => number): ProcessResult {
  const process = new Process(words, context);
  return process.run((streams) => work(new Shell(process, new Map(Object.entries(context.env)), [], false), streams));
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
    if (!isProgram(name) && !Object.hasOwn(builtins, name) && !shells.has(name)) return notFoundCode;
    streams.stdout(`${name}\n`);
    return 0;
  },
};

/** A shell with its variables. */
class Shell implements Scope {
  readonly variables: Map<string, string>;
  functions: ReadonlyMap<string, Command> = new Map();
  folder = '/';
  /** Number of the last background command. */
  lastJob: number | undefined;
  /** Exit code of the last command. */
  status = 0;
  readonly #expansion = new Expansion(this);

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

  outputOf(script: Script): string {
    let output = '';
    const shell = this.#subshell();
    const streams: Streams = { stdin: noInput, stdout: (text) => (output += text), stderr: () => {} };
    this.status = this.process.nested(() => inSubshell(() => shell.commands(script, streams)));
    return output;
  }

  #simple(words: readonly Word[], streams: Streams): number {
    let count = 0;
    while (count < words.length && isAssignment(words[count] as Word)) count += 1;
    const assigned = words.slice(0, count).map((word) => assignment(this.#expansion.text(word)) as [string, string]);
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
    if (!isTest) return words.flatMap((word) => this.#expansion.fields(word));
    const hasPattern = words.slice(1).some((word) => word.some((part) => part.kind === 'text' && !part.isQuoted && isPattern(part.text)));
    if (hasPattern) throw new UnsupportedScriptError('a pattern in [[ ]] is not simulated');
    return words.map((word) => this.#expansion.text(word));
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
    const text = this.#expansion.text(word);
    const branch = branches.find(({ patterns }) => patterns.some((pattern) => matchesPattern(this.#expansion.pattern(pattern), text)));
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
    for (const field of words.flatMap((word) => this.#expansion.fields(word))) {
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
      const name = this.#expansion.text(target);
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
