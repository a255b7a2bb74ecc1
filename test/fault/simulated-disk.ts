import { Buffer } from 'node:buffer';

/** Operations on the files of a folder. A file is identified by a number, because its names change. */
export type DiskOperation =
  | { readonly type: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly file: number; readonly size: number }
  | { readonly type: 'link'; readonly name: string; readonly file: number }
  | { readonly type: 'unlink'; readonly name: string }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }
  /** Makes earlier operations on the file durable when it returns, but not the file's name. */
  | { readonly type: 'sync'; readonly file: number }
  /** Makes earlier changes of all file names durable. */
  | { readonly type: 'syncFolder' };

/** Returns integers from 0 to the argument minus one. */
type Random = (below: number) => number;
type FileOperation = Extract<DiskOperation, { type: 'write' | 'truncate' }>;
type NameOperation = Extract<DiskOperation, { type: 'link' | 'unlink' | 'rename' }>;

/** An unsynced operation. */
interface Pending<Operation> {
  readonly id: number;
  operation: Operation;
  hasReturned: boolean;
}

/** Size that a disk writes atomically. */
export const sectorBytes = 512;
const pageBytes = 4_096;

/**
 * The files of a folder as processes see them, and as a disk may have them after a power failure. Model: when a sync
 * returns, it has made everything durable that returned before it started. Anything else may be on the disk partially, in
 * any order: of a file each sector after any of its writes, and any of its sizes; of a folder any of its changes. Creating,
 * renaming and removing a file is durable only after a sync of the folder (POSIX promises no more; ext4 does). Sectors are
 * never torn: SQLite makes no promise for such disks.
 *
 * Worked example: write AA, sync, write BB over it, append CC. The disk contains one of: AA, BB, AA and zeros, BB and zeros,
 * AACC, BBCC; but never nothing.
 */
export class SimulatedDisk {
  readonly #files = new Map<number, SimulatedFile>();
  readonly #names: Map<string, number>;
  #pending: Pending<NameOperation>[] = [];
  /** Effects of the syncs that have not returned. */
  readonly #syncs = new Map<number, () => void>();
  readonly #open = new Map<number, Pending<DiskOperation>>();

  /** `files` are initially durable and have the numbers from 0 in order. */
  constructor(files: ReadonlyMap<string, Buffer> = new Map()) {
    this.#names = new Map([...files.keys()].map((name, number) => [name, number]));
    for (const [number, bytes] of [...files.values()].entries()) this.#files.set(number, new SimulatedFile(bytes));
  }

  /** Starts an operation, which may have an effect from now on. `id` identifies it for `end` and `fail`. */
  begin(id: number, operation: DiskOperation): void {
    const { type } = operation;
    if (type === 'sync') {
      const file = this.#files.get(operation.file)!;
      const covered = file.returned();
      this.#syncs.set(id, () => file.makeDurable(covered));
    } else if (type === 'syncFolder') {
      const covered = new Set(this.#pending.filter(({ hasReturned }) => hasReturned));
      this.#syncs.set(id, () => {
        for (const pending of covered) if (this.#pending.includes(pending)) rename(this.#names, pending.operation);
        this.#pending = this.#pending.filter((pending) => !covered.has(pending));
      });
    } else if (type === 'write' || type === 'truncate') {
      const pending = { id, operation, hasReturned: false };
      this.#files.get(operation.file)!.pending.push(pending);
      this.#open.set(id, pending as Pending<DiskOperation>);
    } else {
      if (type === 'link') this.#files.set(operation.file, new SimulatedFile(Buffer.alloc(0)));
      const pending = { id, operation, hasReturned: false };
      this.#pending.push(pending);
      this.#open.set(id, pending as Pending<DiskOperation>);
    }
  }

  /** Completes an operation. `bytes` is the written part of a partial write. */
  end(id: number, bytes?: Buffer): void {
    this.#syncs.get(id)?.();
    this.#syncs.delete(id);
    const pending = this.#open.get(id);
    if (!pending) return;
    if (bytes && pending.operation.type === 'write') pending.operation = { ...pending.operation, bytes };
    pending.hasReturned = true;
    this.#open.delete(id);
  }

  /** Ends an operation without effect. */
  fail(id: number): void {
    this.#syncs.delete(id);
    this.#open.delete(id);
    this.#pending = this.#pending.filter((pending) => pending.id !== id);
    for (const file of this.#files.values()) file.pending = file.pending.filter((pending) => pending.id !== id);
  }

  /** Returns the files as processes see them. */
  current(): Map<string, Buffer> {
    const names = new Map(this.#names);
    for (const { operation } of this.#pending) rename(names, operation);
    return this.#contents(names, (file) => file.current());
  }

  /** Returns a possible content after a power failure now. */
  afterPowerLoss(next: Random): Map<string, Buffer> {
    const names = new Map(this.#names);
    const keep = chooseOperations(this.#pending.length, next);
    this.#pending.forEach(({ operation }, i) => {
      if (keep(i)) rename(names, operation);
    });
    return this.#contents(names, (file) => file.afterPowerLoss(next));
  }

  #contents(names: ReadonlyMap<string, number>, of: (file: SimulatedFile) => Buffer): Map<string, Buffer> {
    return new Map([...names].sort().map(([name, number]) => [name, of(this.#files.get(number)!)]));
  }
}

class SimulatedFile {
  #durable: Buffer;
  pending: Pending<FileOperation>[] = [];

  constructor(durable: Buffer) {
    this.#durable = durable;
  }

  returned(): ReadonlySet<Pending<FileOperation>> {
    return new Set(this.pending.filter(({ hasReturned }) => hasReturned));
  }

  makeDurable(covered: ReadonlySet<Pending<FileOperation>>): void {
    this.#durable = contentAfter(
      this.#durable,
      this.pending.filter((pending) => covered.has(pending)).map(({ operation }) => operation),
    );
    this.pending = this.pending.filter((pending) => !covered.has(pending));
  }

  current(): Buffer {
    return contentAfter(
      this.#durable,
      this.pending.map(({ operation }) => operation),
    );
  }

  afterPowerLoss(next: Random): Buffer {
    const operations = this.pending.map(({ operation }) => operation);
    if (operations.length === 0) return this.#durable;
    const sizes = sizesAfter(this.#durable.length, operations);
    const choose = chooseSectors(operations.length, next);
    const reached = choose.size ?? next(sizes.length);
    const longest = Math.max(...sizes);
    const disk = Buffer.alloc(longest);
    this.#durable.copy(disk);
    for (const [sector, touching] of sectorsOf(operations, sizes)) {
      const upTo = choose.upTo(sector, touching);
      if (upTo === 0) continue;
      const start = sector * sectorBytes;
      const bytes = disk.subarray(start, start + sectorBytes);
      for (const index of touching.slice(0, upTo)) applyWithin(bytes, start, operations[index]!);
    }
    return disk.subarray(0, sizes[reached]!);
  }
}

/** Returns the initial size and the size after each operation. */
function sizesAfter(size: number, operations: readonly FileOperation[]): number[] {
  const sizes = [size];
  for (const operation of operations) {
    size = operation.type === 'truncate' ? operation.size : Math.max(size, operation.offset + operation.bytes.length);
    sizes.push(size);
  }
  return sizes;
}

function contentAfter(durable: Buffer, operations: readonly FileOperation[]): Buffer {
  const sizes = sizesAfter(durable.length, operations);
  const content = Buffer.alloc(Math.max(...sizes));
  durable.copy(content);
  for (const operation of operations) applyWithin(content, 0, operation);
  return content.subarray(0, sizes.at(-1)!);
}

/** Applies an operation to the bytes from `start` on. Truncated bytes read as zeros when the file grows again. */
function applyWithin(bytes: Buffer, start: number, operation: FileOperation): void {
  if (operation.type === 'truncate') bytes.fill(0, Math.min(bytes.length, Math.max(0, operation.size - start)));
  else {
    const from = Math.max(start, operation.offset);
    operation.bytes.copy(bytes, from - start, from - operation.offset);
  }
}

/** Returns the changed sectors with the indices of their operations in order. */
function sectorsOf(operations: readonly FileOperation[], sizes: readonly number[]): Map<number, number[]> {
  const sectors = new Map<number, number[]>();
  operations.forEach((operation, i) => {
    const [from, to] =
      operation.type === 'truncate'
        ? [operation.size, Math.max(...sizes.slice(0, i + 1))]
        : [operation.offset, operation.offset + operation.bytes.length];
    for (let sector = Math.floor(from / sectorBytes); sector * sectorBytes < to; sector++) {
      const touching = sectors.get(sector);
      if (touching) touching.push(i);
      else sectors.set(sector, [i]);
    }
  });
  return sectors;
}

interface SectorChoice {
  /** Number of operations after which the file had its chosen size; undefined: any. */
  readonly size?: number;
  /** Returns how many of a sector's operations have reached it. */
  upTo(sector: number, touching: readonly number[]): number;
}

/** Chooses a pattern of loss. If sectors were independent, a complete state would hardly ever occur. */
function chooseSectors(count: number, next: Random): SectorChoice {
  const last = (touching: readonly number[], isKept: (index: number) => boolean): number => touching.findLastIndex(isKept) + 1;
  switch (next(6)) {
    case 0:
      return { size: 0, upTo: () => 0 };
    case 1:
      return { size: count, upTo: (_, touching) => touching.length };
    case 2: {
      const kept = Array.from({ length: count }, () => next(2) === 0);
      return { upTo: (_, touching) => last(touching, (index) => kept[index]!) };
    }
    case 3: {
      // The last operation that reached the disk is partial.
      const reached = next(count);
      return {
        size: reached + 1,
        upTo: (_, touching) => last(touching, (index) => index < reached || (index === reached && next(2) === 0)),
      };
    }
    case 4: {
      const pages = new Map<number, boolean>();
      return {
        size: count,
        upTo(sector, touching) {
          const page = Math.floor((sector * sectorBytes) / pageBytes);
          if (!pages.has(page)) pages.set(page, next(2) === 0);
          return pages.get(page)! ? touching.length : 0;
        },
      };
    }
    default: {
      // Either few of many sectors are lost, or few are written.
      const share = next(100);
      return { upTo: (_, touching) => (next(100) < share ? touching.length : next(touching.length + 1)) };
    }
  }
}

/** Returns which of `count` folder changes are kept. */
function chooseOperations(count: number, next: Random): (index: number) => boolean {
  switch (next(4)) {
    case 0:
      return () => false;
    case 1:
      return () => true;
    case 2: {
      const reached = next(count + 1);
      return (index) => index < reached;
    }
    default:
      return () => next(2) === 0;
  }
}

function rename(names: Map<string, number>, operation: NameOperation): void {
  switch (operation.type) {
    case 'link':
      names.set(operation.name, operation.file);
      break;
    case 'unlink':
      names.delete(operation.name);
      break;
    case 'rename': {
      const file = names.get(operation.from);
      // The file's creation is lost.
      if (file === undefined) break;
      names.delete(operation.from);
      names.set(operation.to, file);
    }
  }
}
