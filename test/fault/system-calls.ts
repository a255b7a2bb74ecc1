/**
 * Records the operations of processes on the files of a folder with strace (from Debian's package of that name). Notes that
 * a process writes to another file are recorded in the same order.
 */
import { Buffer } from 'node:buffer';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DiskOperation, SimulatedDisk } from './simulated-disk.ts';

/** A step of a recording. An operation may have an effect once it has started; processes may rely on it once it has ended. */
export type Step =
  | { readonly type: 'begin'; readonly id: number; readonly operation: DiskOperation }
  /** `bytes` is the written part of a partial write. */
  | { readonly type: 'end'; readonly id: number; readonly bytes?: Buffer }
  | { readonly type: 'fail'; readonly id: number }
  | { readonly type: 'note'; readonly text: string };

/** The reason why recording is impossible; undefined if it is possible. */
export const noTrace: string | undefined = whyNoTrace();

function whyNoTrace(): string | undefined {
  const { status, error } = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'trace=fsync', 'true'], { stdio: 'ignore' });
  if (error) return 'there is no strace: npm test could not get one';
  return status === 0 ? undefined : 'no process may be traced here';
}

/**
 * The `?` marks calls that some processors lack. Calls that are not handled below are included so that their use is
 * detected.
 */
const traced = [
  ...['?open', 'openat', '?openat2', '?creat', 'close', 'write', 'pwrite64', 'ftruncate', 'fsync', 'fdatasync', '?unlink', 'unlinkat'],
  ...[
    '?rename',
    '?renameat',
    'renameat2',
    'writev',
    'pwritev',
    '?pwritev2',
    '?truncate',
    'fallocate',
    'sync_file_range',
    '?link',
    'linkat',
  ],
  ...['?dup', '?dup2', 'dup3', 'copy_file_range', 'sendfile', 'splice', 'lseek', 'mmap'],
];
/** Longer than any write. */
const longestString = 64 * 1_048_576;

/**
 * Records the operations of sequential processes on the files of a folder. `-shm` files are ignored: they are shared memory
 * of SQLite processes, recreated by the first of them.
 */
export class Recorder {
  readonly steps: Step[] = [];
  readonly #folder: string;
  readonly #notes: string;
  readonly #disk: SimulatedDisk;
  readonly #names: Map<string, number>;
  /** Pending operations. `undo` reverts one that did not happen. */
  readonly #operations = new Map<number, { readonly operation: DiskOperation; readonly undo: (() => void) | undefined }>();
  readonly #descriptors = new Map<number, Descriptor>();
  #nextFile: number;
  #nextId = 0;

  /** `files` is the initial content of the folder. `notes` is a file outside of it. */
  constructor(folder: string, notes: string, files: ReadonlyMap<string, Buffer>) {
    this.#folder = folder;
    this.#notes = notes;
    this.#disk = new SimulatedDisk(files);
    this.#names = new Map([...files.keys()].map((name, number) => [name, number]));
    this.#nextFile = files.size;
  }

  /**
   * Runs a process to its end and returns the signal that killed it. Throws if it fails, or if the real files differ from
   * the recorded ones, which would mean that an operation was missed.
   */
  async run(command: readonly string[], { env, death }: RunOptions): Promise<NodeJS.Signals | null> {
    const output = `${this.#notes}.trace`;
    const options = ['-f', '-qq', '-xx', '-s', String(longestString), '-e', 'signal=none', '-o', output];
    // Faster, but does not support fault injection.
    if (!death) options.push('--seccomp-bpf');
    else options.push('-e', `inject=${death.call}:signal=SIGKILL:when=${death.passage}`);
    const child = spawn('strace', [...options, '-e', `trace=${traced.join(',')}`, ...command], {
      // strace does not see operations in an io_uring.
      env: { PATH: process.env['PATH'], UV_USE_IO_URING: '0', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    await once(child, 'close');
    if (child.exitCode !== 0 && child.signalCode === null) throw new Error(`the process failed with ${child.exitCode}: ${errors}`);
    this.read(readFileSync(output, 'latin1'));
    rmSync(output);
    this.#settle(child.signalCode !== null);
    return child.signalCode;
  }

  /** Processes the trace of one process. */
  read(trace: string): void {
    const unfinished = new Map<string, (result: number | undefined) => void>();
    for (const line of trace.split('\n')) {
      if (line === '') continue;
      const [, thread, rest] = /^(\d+) +(.*)$/.exec(line)!;
      if (rest!.startsWith('<... ')) {
        unfinished.get(thread!)?.(resultOf(rest!));
        unfinished.delete(thread!);
      } else if (!rest!.startsWith('+++') && !rest!.startsWith('---')) {
        const open = rest!.indexOf('(');
        const finish = this.#begin(rest!.slice(0, open), rest!.slice(open + 1));
        if (rest!.endsWith('<unfinished ...>')) unfinished.set(thread!, finish);
        else finish(resultOf(rest!));
      }
    }
    this.#descriptors.clear();
  }

  /** Starts a call. Returns the handler of its result, which is undefined if the call never returned. */
  #begin(name: string, args: string): (result: number | undefined) => void {
    const nothing = (): void => {};
    const descriptor = this.#descriptors.get(Number.parseInt(args, 10));
    switch (name) {
      case 'open':
      case 'openat':
        return this.#open(args);
      case 'close':
        this.#descriptors.delete(Number.parseInt(args, 10));
        return nothing;
      case 'unlink':
      case 'unlinkat': {
        const file = this.#nameOf(stringsOf(args)[0]!);
        if (file === undefined || !this.#names.has(file)) return nothing;
        const number = this.#names.get(file)!;
        this.#names.delete(file);
        return this.#operation({ type: 'unlink', name: file }, () => this.#names.set(file, number));
      }
      case 'rename':
      case 'renameat':
      case 'renameat2': {
        const [from, to] = stringsOf(args).map((path) => this.#nameOf(path));
        if (from === undefined && to === undefined) return nothing;
        if (from === undefined || to === undefined || !this.#names.has(from)) break;
        this.#names.set(to, this.#names.get(from)!);
        this.#names.delete(from);
        return this.#operation({ type: 'rename', from, to });
      }
      case 'mmap': {
        const [, , protection = '', flags = '', fifth] = args.split(', ');
        const mapped = this.#descriptors.get(Number.parseInt(fifth ?? '', 10));
        if (mapped === undefined || !protection.includes('PROT_WRITE') || !flags.includes('MAP_SHARED')) return nothing;
        break;
      }
      case 'openat2':
      case 'creat':
      case 'truncate':
      case 'link':
      case 'linkat':
        if (stringsOf(args).every((path) => this.#nameOf(path) === undefined)) return nothing;
        break;
      default:
        if (descriptor === undefined) return nothing;
        return this.#do(name, descriptor, args);
    }
    throw new Error(`unsupported call ${name}: ${args.slice(0, 200)}`);
  }

  #do(name: string, descriptor: Descriptor, args: string): (result: number | undefined) => void {
    const { file } = descriptor;
    switch (name) {
      case 'write': {
        const bytes = bytesOf(args);
        if (file === 'notes') {
          for (const text of bytes.toString().trimEnd().split('\n')) this.steps.push({ type: 'note', text });
          return () => {};
        }
        if (typeof file !== 'number' || descriptor.appends) break;
        const { offset } = descriptor;
        descriptor.offset += bytes.length;
        return this.#operation({ type: 'write', file, offset, bytes });
      }
      case 'pwrite64': {
        if (typeof file !== 'number') break;
        const offset = Number(/, (\d+)(?:\)| <unfinished)[^"]*$/.exec(args)![1]);
        return this.#operation({ type: 'write', file, offset, bytes: bytesOf(args) });
      }
      case 'ftruncate':
        if (typeof file !== 'number') break;
        return this.#operation({ type: 'truncate', file, size: Number.parseInt(args.split(', ')[1]!, 10) });
      case 'fsync':
      case 'fdatasync':
        if (file === 'folder') return this.#operation({ type: 'syncFolder' });
        if (typeof file === 'number') return this.#operation({ type: 'sync', file });
        return () => {};
    }
    throw new Error(`unsupported call ${name} on ${file}: ${args.slice(0, 200)}`);
  }

  #open(args: string): (result: number | undefined) => void {
    const path = stringsOf(args)[0]!;
    const flags = args.slice(args.lastIndexOf('"') + 1);
    const opens =
      (file: Descriptor['file']) =>
      (result: number | undefined): void => {
        if (result !== undefined && result >= 0) this.#descriptors.set(result, { file, appends: flags.includes('O_APPEND'), offset: 0 });
      };
    if (path === this.#folder) return opens('folder');
    if (path === this.#notes) return opens('notes');
    const name = this.#nameOf(path);
    if (name === undefined) return () => {};
    const known = this.#names.get(name);
    if (known === undefined && !flags.includes('O_CREAT')) return () => {};
    const file = known ?? this.#nextFile++;
    if (known === undefined) this.#names.set(name, file);
    const done =
      known === undefined
        ? this.#operation({ type: 'link', name, file }, () => this.#names.delete(name))
        : flags.includes('O_TRUNC')
          ? this.#operation({ type: 'truncate', file, size: 0 })
          : () => {};
    return (result) => {
      opens(file)(result);
      done(result);
    };
  }

  /** `undo` is called if the operation fails. */
  #operation(operation: DiskOperation, undo?: () => void): (result: number | undefined) => void {
    const id = this.#nextId++;
    this.#operations.set(id, { operation, undo });
    this.#push({ type: 'begin', id, operation });
    return (result) => {
      if (result === undefined) return;
      if (result < 0) {
        undo?.();
        this.#push({ type: 'fail', id });
      } else if (operation.type === 'write' && result < operation.bytes.length) {
        this.#push({ type: 'end', id, bytes: operation.bytes.subarray(0, result) });
      } else this.#push({ type: 'end', id });
    };
  }

  #push(step: Exclude<Step, { type: 'note' }>): void {
    this.steps.push(step);
    applyStep(this.#disk, step);
    if (step.type !== 'begin') this.#operations.delete(step.id);
  }

  /**
   * Handles the end of the process: a pending operation may have happened completely, partially or not at all. A trace may lack the last
   * write of a thread that was killed with the process.
   */
  #settle(wasKilled: boolean): void {
    const seen = this.#seen();
    for (const [id, { operation, undo }] of this.#operations) {
      if (operation.type === 'write') {
        const { offset, bytes } = operation;
        const written = seen.get(this.#nameOfFile(operation.file))?.subarray(offset, offset + bytes.length) ?? Buffer.alloc(0);
        this.#push({ type: 'end', id, bytes: written });
      } else if (this.#hasHappened(operation, seen)) this.#push({ type: 'end', id });
      else {
        undo?.();
        this.#push({ type: 'fail', id });
      }
    }
    const made = this.#disk.current();
    for (const name of new Set([...made.keys(), ...seen.keys()])) {
      const [before, after] = [made.get(name), seen.get(name)];
      if (before && after?.equals(before)) continue;
      if (wasKilled && before && after && after.length >= before.length) this.#addWrite(name, before, after);
      else throw new Error(`${name} has ${after?.length} bytes, which differ from the ${before?.length} recorded ones`);
    }
  }

  /** Adds the write that led from one content of a file to another one. */
  #addWrite(name: string, before: Buffer, after: Buffer): void {
    let offset = 0;
    while (offset < before.length && before[offset] === after[offset]) offset++;
    this.#operation({ type: 'write', file: this.#names.get(name)!, offset, bytes: after.subarray(offset) })(after.length - offset);
  }

  #hasHappened(operation: DiskOperation, seen: ReadonlyMap<string, Buffer>): boolean {
    switch (operation.type) {
      case 'link':
        return seen.has(operation.name);
      case 'unlink':
        return !seen.has(operation.name);
      case 'truncate':
        return seen.get(this.#nameOfFile(operation.file))?.length === operation.size;
      default:
        // The store does not rename files, and a sync promises nothing before it returns.
        return operation.type === 'rename';
    }
  }

  #seen(): Map<string, Buffer> {
    return new Map(
      readdirSync(this.#folder)
        .filter((name) => !isShared(name))
        .map((name) => [name, readFileSync(join(this.#folder, name))]),
    );
  }

  #nameOfFile(file: number): string {
    return [...this.#names].find(([, number]) => number === file)?.[0] ?? '';
  }

  /** Returns undefined for a file that is not recorded. */
  #nameOf(path: string): string | undefined {
    if (!path.startsWith(`${this.#folder}/`) || isShared(path)) return undefined;
    return path.slice(this.#folder.length + 1);
  }
}

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Kills the process when one of its threads is about to make the call for the given number of times; undefined: never. */
  readonly death?: { readonly call: string; readonly passage: number } | undefined;
}

interface Descriptor {
  readonly file: number | 'folder' | 'notes';
  readonly appends: boolean;
  offset: number;
}

/** Applies a recorded step to a disk. */
export function applyStep(disk: SimulatedDisk, step: Step): void {
  if (step.type === 'begin') disk.begin(step.id, step.operation);
  else if (step.type === 'end') disk.end(step.id, step.bytes);
  else if (step.type === 'fail') disk.fail(step.id);
}

function isShared(path: string): boolean {
  return path.endsWith('-shm');
}

/** Returns undefined if the call has not returned. */
function resultOf(line: string): number | undefined {
  const result = Number.parseInt(line.slice(line.lastIndexOf(' = ') + 3), 10);
  return Number.isNaN(result) ? undefined : result;
}

/** Returns all strings of a call, in which each byte is written as `\x..`. */
function stringsOf(args: string): string[] {
  return args
    .split('"')
    .filter((_, i) => i % 2 === 1)
    .map((text) => decode(text).toString());
}

function bytesOf(args: string): Buffer {
  return decode(args.slice(args.indexOf('"') + 1, args.lastIndexOf('"')));
}

function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
