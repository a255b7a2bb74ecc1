import { Buffer } from 'node:buffer';

/** What processes ask for of the files of one folder. A file is a number: its names come and go. */
export type DiskOperation =
  | { readonly type: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly file: number; readonly size: number }
  | { readonly type: 'link'; readonly name: string; readonly file: number }
  | { readonly type: 'unlink'; readonly name: string }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }
  /** What was done to the file before is on the disk when it returns; not the file's name. */
  | { readonly type: 'sync'; readonly file: number }
  /** The same of the names of all files. */
  | { readonly type: 'syncFolder' };

/** Whole numbers from 0 to one below the argument. */
type Random = (below: number) => number;
type FileOperation = Extract<DiskOperation, { type: 'write' | 'truncate' }>;
type NameOperation = Extract<DiskOperation, { type: 'link' | 'unlink' | 'rename' }>;

/** What is not synced yet. */
interface Pending<Operation> {
  readonly id: number;
  operation: Operation;
  hasReturned: boolean;
}

/** What a disk writes whole or not at all. */
export const sectorBytes = 512;
const pageBytes = 4_096;

/**
 * The files of a folder, as processes see them and as a disk may have them when the power fails. The model: a sync makes durable what returned before
 * it began, once it has returned. Of what is not durable any part may be on the disk, in any order: of a file each sector as it was after any of
 * its writes, and any of the sizes that it had; of a folder any of its changes. A file's creation, renaming and removal are durable only when the
 * folder was synced (POSIX promises no more; ext4 does). No sector is torn: SQLite promises nothing on disks that do that.
 *
 * Worked example: write AA, sync, write BB over it, write CC behind. The disk has one of: AA, BB, AA and zeros, BB and zeros, AACC, BBCC; but
 * never nothing.
 */
export class SimulatedDisk {
  readonly #files = new Map<number, SimulatedFile>();
  readonly #names: Map<string, number>;
  #pending: Pending<NameOperation>[] = [];
  /** What each sync that has not returned is to make durable. */
  readonly #syncs = new Map<number, () => void>();
  readonly #open = new Map<number, Pending<DiskOperation>>();

  /** `files`: what is durable at first. They have the numbers from 0 on, in their order. */
  constructor(files: ReadonlyMap<string, Buffer> = new Map()) {
    this.#names = new Map([...files.keys()].map((name, number) => [name, number]));
    for (const [number, bytes] of [...files.values()].entries()) this.#files.set(number, new SimulatedFile(bytes));
  }

  /** From now on it may have happened. `id`: by which it is ended, or fails. */
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

  /** It has returned. `bytes`: what a write has written, if that is not all. */
  end(id: number, bytes?: Buffer): void {
    this.#syncs.get(id)?.();
    this.#syncs.delete(id);
    const pending = this.#open.get(id);
    if (!pending) return;
    if (bytes && pending.operation.type === 'write') pending.operation = { ...pending.operation, bytes };
    pending.hasReturned = true;
    this.#open.delete(id);
  }

  /** It has not happened. */
  fail(id: number): void {
    this.#syncs.delete(id);
    this.#open.delete(id);
    this.#pending = this.#pending.filter((pending) => pending.id !== id);
    for (const file of this.#files.values()) file.pending = file.pending.filter((pending) => pending.id !== id);
  }

  /** What processes see. */
  current(): Map<string, Buffer> {
    const names = new Map(this.#names);
    for (const { operation } of this.#pending) rename(names, operation);
    return this.#contents(names, (file) => file.current());
  }

  /** What may be there after the power failed now. */
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

/** The size at first, and after each operation. */
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

/** `bytes` are those of the file from `start` on. What is cut off reads as zeros when the file grows again. */
function applyWithin(bytes: Buffer, start: number, operation: FileOperation): void {
  if (operation.type === 'truncate') bytes.fill(0, Math.min(bytes.length, Math.max(0, operation.size - start)));
  else {
    const from = Math.max(start, operation.offset);
    operation.bytes.copy(bytes, from - start, from - operation.offset);
  }
}

/** The sectors that operations change, each with the indices of these, in their order. */
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
  /** After how many operations the file had the size that it has; undefined: any. */
  readonly size?: number;
  /** How many of the operations that touch a sector have reached it. */
  upTo(sector: number, touching: readonly number[]): number;
}

/** Disks lose in several ways; sectors that are each for themselves would hardly ever be all there. */
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
      // The last that has reached the disk has done so in part.
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
      // Of many sectors few are lost, or few are there.
      const share = next(100);
      return { upTo: (_, touching) => (next(100) < share ? touching.length : next(touching.length + 1)) };
    }
  }
}

/** Which of so many changes of a folder are kept. */
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
      // Its creation is lost.
      if (file === undefined) break;
      names.delete(operation.from);
      names.set(operation.to, file);
    }
  }
}
