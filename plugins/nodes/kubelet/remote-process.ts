import { Buffer } from 'node:buffer';
import type { Container, Pod } from 'kubenest/types/core_v1';
import type { Steps } from '#sdk/internal';
import { environmentOf, hostnameOf } from '../pods/environment.ts';
import { annotationPrefix, parseJsonObject, settingOf } from '../pods/settings.ts';
import { bytesOfText, textOfBytes } from '../shell/bytes.ts';
import { UnsupportedScriptError } from '../shell/script.ts';
import type { OutputPart, ProcessContext, ProcessResult } from '../shell/process.ts';
import { isInteractiveShell, runCommand, runScript } from '../shell/shell.ts';
import { limitWork, maxWork } from '../shell/work.ts';
import type { MountedTexts } from '../pods/cluster-sources.ts';
import type { PodFiles } from '../pods/pod-files.ts';

/** Streams of a remote process, whatever protocol carries them. */
export interface ProcessStreams {
  stdout(bytes: Buffer): void;
  stderr(bytes: Buffer): void;
  /** Reports the exit code and ends the streams. */
  exit(code: number): void;
}

/** A process that the client feeds. */
export interface RemoteProcess {
  stdin(bytes: Buffer): Steps<void>;
  /** The client closed standard input. */
  stdinClosed(): void;
  /** The client is gone. */
  hangUp(): void;
}

export interface ProcessOptions {
  readonly pod: Pod;
  readonly container: Container;
  readonly command: readonly string[];
  readonly hasStdin: boolean;
  readonly tty: boolean;
  /** Mounted files as they are now. */
  readonly mounted: MountedTexts;
  readonly files: PodFiles;
  /** Returns the present time in milliseconds since the epoch. */
  readonly clock?: () => number;
}

const usageError = 2;
const maxSleepSeconds = 86_400;

/** Runs a command in a simulated container: a response of the annotation, a shell on standard input, `cat`, or a simulated command. */
export function startProcess(options: ProcessOptions, streams: ProcessStreams): RemoteProcess {
  const { command, hasStdin } = options;
  const scripted = scriptedResult(options);
  if (scripted) return new FinishedProcess(scripted, streams, options.tty);
  if (hasStdin && isInteractiveShell(command)) return new ShellProcess(options, streams);
  if (hasStdin && command.length === 1 && /(^|\/)cat$/.test(command[0] as string)) return new EchoProcess(streams);
  const start = (input: () => string): RemoteProcess =>
    new FinishedProcess(
      run(options, (context) => runCommand(command, { ...context, stdin: input, showsRepetition: true, maxRepetitions })),
      streams,
      options.tty,
    );
  if (!hasStdin || options.tty) return start(() => '');
  try {
    return start(() => {
      throw new InputNeeded();
    });
  } catch (error) {
    if (!(error instanceof InputNeeded)) throw error;
    return new ReadingProcess(start, streams);
  }
}

/** Thrown when a command reads standard input, which the client has not sent yet. */
class InputNeeded extends Error {}

/** Starts a shell that reads its commands from the client. */
export function startShell(options: ProcessOptions, streams: ProcessStreams): RemoteProcess {
  return new ShellProcess(options, streams);
}

type Outcome = Pick<ProcessResult, 'output' | 'exitCode' | 'seconds'>;

/** Outcome of a command that takes no time. */
function atOnce(stdout: string, stderr: string, exitCode: number): Outcome {
  const parts = { stdout, stderr };
  const streams = ['stdout', 'stderr'] as const;
  const output = streams.flatMap((stream) => (parts[stream] === '' ? [] : [{ seconds: 0, stream, text: parts[stream] }]));
  return { output, exitCode, seconds: 0 };
}

/** Iterations of an endless loop that a command of `exec` shows. */
const maxRepetitions = 200;

/**
 * Runs a command with the files of the container, and keeps its changes. A command that is not simulated changes nothing, and its failure
 * names the reason.
 */
function run(
  { pod, container, mounted, files: store, clock = Date.now }: ProcessOptions,
  work: (context: ProcessContext) => ProcessResult,
): Outcome {
  const now = clock();
  const hint = `this container is simulated; the annotation ${annotationPrefix}exec can give the output of a command`;
  try {
    return limitWork(2 * maxWork, () => {
      const files = store.open(pod, container, mounted, now);
      const before = new Map(files.changes);
      const result = work({ env: environmentOf(pod, container, store), hostname: hostnameOf(pod), now, files, notFoundHint: hint });
      store.keep(pod, container, files, before, now);
      return result;
    });
  } catch (error) {
    if (error instanceof UnsupportedScriptError) return atOnce('', `sh: ${error.message} (${hint})\n`, usageError);
    throw error;
  }
}

/** Returns the response that the annotation `exec` gives for the command line. A warning of the node reports invalid annotations. */
function scriptedResult({ pod, container, command }: ProcessOptions): Outcome | undefined {
  const text = settingOf(pod, 'exec', container.name);
  const responses = text === undefined ? undefined : parseJsonObject(text);
  if (!responses) return undefined;
  const line = command.join(' ');
  const response = Object.hasOwn(responses, line) ? responses[line] : undefined;
  if (typeof response === 'string') return atOnce(response, '', 0);
  if (typeof response !== 'object' || response === null) return undefined;
  const { stdout = '', stderr = '', exitCode = 0 } = response as { stdout?: unknown; stderr?: unknown; exitCode?: unknown };
  return atOnce(String(stdout), String(stderr), Number(exitCode) || 0);
}

/** A terminal shows a line feed as carriage return and line feed. */
const onTerminal = (text: string, tty: boolean): Buffer => bytesOfText(tty ? text.replaceAll('\n', '\r\n') : text);

/** Writes what a process has written to a stream of the client. A terminal has one stream. */
export function show({ stream, text }: Pick<OutputPart, 'stream' | 'text'>, streams: ProcessStreams, tty: boolean): void {
  const bytes = onTerminal(text, tty);
  if (tty || stream === 'stdout') streams.stdout(bytes);
  else streams.stderr(bytes);
}

/** A process whose result is known. Its output appears at its simulated times, and it ends when its time is over. */
class FinishedProcess implements RemoteProcess {
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #shown = 0;
  #isOver = false;

  constructor(
    private readonly outcome: Outcome,
    private readonly streams: ProcessStreams,
    private readonly tty: boolean,
  ) {
    this.#play();
  }

  /** Shows the output of the time that has passed, and waits for the next one. */
  #play(): void {
    const { output, exitCode, seconds } = this.outcome;
    const elapsed = (performance.now() - this.#startedAt) / 1_000;
    for (let next = output[this.#shown]; next && next.seconds <= elapsed; next = output[this.#shown]) {
      this.#shown += 1;
      show(next, this.streams, this.tty);
      // The client may hang up as it reads.
      if (this.#isOver) return;
    }
    const next = output[this.#shown];
    const end = Math.min(next?.seconds ?? seconds, maxSleepSeconds);
    const exits = !next || next.seconds > maxSleepSeconds;
    this.#timer = setTimeout(() => (exits ? this.streams.exit(exitCode) : this.#play()), Math.max(0, end - elapsed) * 1_000);
    this.#timer.unref();
  }

  *stdin(): Steps<void> {}
  stdinClosed(): void {}
  hangUp(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

/** Maximum number of bytes that a command reads from standard input. */
const maxInput = 1_048_576;

/** A command that reads all of its standard input before it starts. */
class ReadingProcess implements RemoteProcess {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #started: RemoteProcess | undefined;
  #isOver = false;

  constructor(
    private readonly start: (input: () => string) => RemoteProcess,
    private readonly streams: ProcessStreams,
  ) {}

  *stdin(bytes: Buffer): Steps<void> {
    if (this.#isOver) return;
    this.#length += bytes.length;
    if (this.#length > maxInput) {
      this.#isOver = true;
      this.#chunks.length = 0;
      this.streams.stderr(Buffer.from('sh: standard input is too long for the simulation\n'));
      return this.streams.exit(1);
    }
    this.#chunks.push(Buffer.from(bytes));
    yield;
  }

  stdinClosed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const input = textOfBytes(Buffer.concat(this.#chunks));
    this.#started = this.start(() => input);
  }

  hangUp(): void {
    this.#isOver = true;
    this.#started?.hangUp();
  }
}

/** `cat`: standard input goes to standard output. */
class EchoProcess implements RemoteProcess {
  constructor(private readonly streams: ProcessStreams) {}

  *stdin(bytes: Buffer): Steps<void> {
    this.streams.stdout(bytes);
    yield;
  }

  stdinClosed(): void {
    this.streams.exit(0);
  }

  hangUp(): void {}
}

/** Maximum length of a line that a shell reads, in bytes: that of a terminal's line is 4,096. */
const maxLine = 65_536;
const interrupt = 3;
const endOfTransmission = 4;
const backspaces: readonly number[] = [8, 127];

/** A shell that runs each line of standard input. On a terminal it echoes the input and shows a prompt. */
class ShellProcess implements RemoteProcess {
  #line: number[] = [];
  #exitCode = 0;
  #isOver = false;

  constructor(
    private readonly options: ProcessOptions,
    private readonly streams: ProcessStreams,
  ) {
    this.#prompt();
  }

  *stdin(bytes: Buffer): Steps<void> {
    for (const byte of bytes) {
      if (this.#isOver) return;
      this.#take(byte);
      yield;
    }
  }

  stdinClosed(): void {
    if (this.#line.length > 0) this.#run();
    this.#exit(this.#exitCode);
  }

  hangUp(): void {
    this.#isOver = true;
  }

  #take(byte: number): void {
    const { tty } = this.options;
    if (byte === 10 || (tty && byte === 13)) {
      if (tty) this.streams.stdout(Buffer.from('\r\n'));
      return this.#run();
    }
    if (this.#line.length >= maxLine) {
      this.streams.stderr(Buffer.from('sh: the line is too long\n'));
      return this.#exit(usageError);
    }
    if (!tty) return void this.#line.push(byte);
    if (byte === endOfTransmission && this.#line.length === 0) return this.#exit(this.#exitCode);
    if (byte === interrupt) {
      this.#line = [];
      this.streams.stdout(Buffer.from('^C\r\n'));
      return this.#prompt();
    }
    if (backspaces.includes(byte)) {
      if (this.#line.pop() !== undefined) this.streams.stdout(Buffer.from('\b \b'));
      return;
    }
    this.#line.push(byte);
    this.streams.stdout(Buffer.from([byte]));
  }

  #run(): void {
    const line = textOfBytes(Buffer.from(this.#line));
    this.#line = [];
    const exit = /^\s*exit(?:\s+(\d+))?\s*$/.exec(line);
    if (exit) return this.#exit(exit[1] === undefined ? this.#exitCode : Number(exit[1]) % 256);
    const { output, exitCode } = run(this.options, (context) => runScript(line, context));
    for (const part of output) show(part, this.streams, this.options.tty);
    this.#exitCode = exitCode;
    this.#prompt();
  }

  #prompt(): void {
    if (this.options.tty) this.streams.stdout(Buffer.from('/ # '));
  }

  #exit(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.streams.exit(code);
  }
}
