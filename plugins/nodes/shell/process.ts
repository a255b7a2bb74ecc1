import { SimulatedFiles } from './files.ts';
import { ProcessLeft } from './jumps.ts';
import { UnsupportedScriptError } from './script.ts';
import { limitWork, maxWork, spendWork } from './work.ts';

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
  /**
   * True if the output of a loop that repeats itself is wanted: that of its first iteration, and of its last ones before `untilSeconds`.
   */
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

/** Standard input without content. */
export const noInput = (): string => '';
/** Exit code for a program or a background command that does not exist. */
export const notFoundCode = 127;
const maxOutput = 1_048_576;
const maxNesting = 32;
/** Iterations of a loop that repeats itself whose output is shown. */
const shownIterations = 100;
const unitsPerProcess = 64;
const leastWork = 49_152;

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
export interface Streams {
  readonly stdin: () => string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/**
 * A simulated process with all shells in it: its time, its files, and the work that it may cost the server. The work grows with the text of
 * the command and of its environment, up to `maxWork`, not with what nested shells and variables make of it: a few variables that each run
 * the previous one twice are otherwise an endless loop.
 */
export class Process {
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
  /** Time at which the process is left. */
  #until: number;

  constructor(
    words: readonly string[],
    readonly context: ProcessContext,
  ) {
    const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
    this.#allowance = Math.min(maxWork, leastWork + 4 * length(words) + length(Object.values(context.env)));
    this.files = context.files ?? new SimulatedFiles();
    this.#until = context.untilSeconds ?? Infinity;
  }

  /** Runs the work of the process, which returns its exit code. */
  run(work: (streams: Streams) => number): ProcessResult {
    const output = new Output();
    const { stdin = noInput } = this.context;
    const add = (stream: OutputPart['stream']) => (text: string) => output.add({ seconds: this.#seconds, stream, text });
    const streams: Streams = { stdin, stdout: add('stdout'), stderr: add('stderr') };
    let exitCode = 0;
    try {
      exitCode = limitWork(this.#allowance, () => {
        spendWork(unitsPerProcess);
        return work(streams);
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
    this.#until = Infinity;
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
    if (this.#seconds === Infinity || this.#seconds > this.#until) throw new ProcessLeft();
  }

  /** Lets the time pass in which a loop repeats itself, up to the iterations whose output is shown. */
  repeat(periodSeconds: number): void {
    const { showsRepetition = false, maxRepetitions = 0 } = this.context;
    if (periodSeconds > 0 && ++this.#repetitions < maxRepetitions) return;
    if (!showsRepetition || this.#until === Infinity || periodSeconds <= 0) return this.sleep(Infinity);
    const iterations = Math.floor((this.#until - this.#seconds) / periodSeconds) - shownIterations;
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
