import { Buffer } from 'node:buffer';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { AllocationCounts } from './allocation-counts.ts';
import { AllocationError } from './allocation-error.ts';
import { formatPortRange, PortBitmap, type PortRange } from './port-bitmap.ts';

/** Where upstream keeps it: an object of kind RangeAllocation, which no API serves. */
const key = '/ranges/servicenodeports';

/** One taking or giving back that waits to be stored. */
interface Change {
  readonly port: number;
  readonly taken: boolean;
  resolve(stored: boolean): void;
  reject(error: unknown): void;
}

/**
 * The node ports of all services as one stored bitmap. What is taken or given back while a write is under way goes with
 * the next one; each write is a compare-and-swap, so servers on one store cannot give a port twice.
 * Upstream: core/service/{portallocator,allocator/storage}.
 */
export class NodePortAllocator {
  /** What services were given, for /metrics. */
  readonly counts = new AllocationCounts();
  /** As last seen in the store. */
  #stored: PortBitmap;
  /** 0: nothing is stored yet. */
  #revision: Revision = 0;
  /** Reserved in this process, not yet stored. */
  readonly #reserved = new Set<number>();
  #waiting: Change[] = [];
  #writing = false;
  #loaded: Promise<void> | undefined;

  constructor(
    readonly storage: Pick<Storage, 'get' | 'create' | 'update'>,
    readonly range: PortRange,
  ) {
    this.#stored = new PortBitmap(range);
  }

  /** Takes a port that was asked for. Rejects with AllocationError `allocated` or `notInRange`. */
  allocate(port: number): Promise<void> {
    return this.counts.count('static', () => this.#allocate(port));
  }

  async #allocate(port: number): Promise<void> {
    this.#stored.checkRange(port);
    await this.load();
    // It may have been given back by another server meanwhile.
    if (this.#stored.has(port)) await this.#refresh();
    if (this.has(port) || !(await this.#change(port, true))) throw new AllocationError('allocated', 'provided port is already allocated');
  }

  /** Takes any free port. Rejects with AllocationError `full`. */
  allocateNext(): Promise<number> {
    return this.counts.count('dynamic', () => this.#allocateNext());
  }

  /** As last seen in the store. */
  get usage(): { readonly allocated: number; readonly available: number } {
    const { count, range } = this.#stored;
    return { allocated: count, available: range.size - count };
  }

  async #allocateNext(): Promise<number> {
    await this.load();
    for (let refreshed = false; ; ) {
      const port = this.#stored.findFree(this.#reserved);
      if (port !== undefined) {
        if (await this.#change(port, true)) return port;
      } else if (refreshed) {
        throw new AllocationError('full', 'range is full');
      } else {
        await this.#refresh();
        refreshed = true;
      }
    }
  }

  /** Gives a port back; one that is free, or beyond the range, is fine. */
  async release(port: number): Promise<void> {
    await this.load();
    if (this.#stored.has(port)) await this.#change(port, false);
  }

  /** Whether it is known as taken. */
  has(port: number): boolean {
    return this.#stored.has(port) || this.#reserved.has(port);
  }

  /** Reads what is stored, once. */
  load(): Promise<void> {
    this.#loaded ??= this.#refresh().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /** What is stored, read anew. */
  async snapshot(): Promise<PortBitmap> {
    await this.load();
    await this.#refresh();
    return this.#stored.copy();
  }

  /** Takes what services have and the store does not know of; gives back what leaked. Writes only if that changes anything. */
  async repair(missing: Iterable<number>, leaked: Iterable<number>): Promise<void> {
    await this.load();
    const free = [...new Set(missing)].filter((port) => this.#stored.contains(port) && !this.has(port));
    await Promise.all([...free.map((port) => this.#change(port, true)), ...[...leaked].map((port) => this.release(port))]);
    if (this.#revision === 0) await this.#initialize();
  }

  /** An empty bitmap is stored, too: it says what the range is. */
  async #initialize(): Promise<void> {
    try {
      this.#adopt(await this.storage.create(key, () => encodeRange(this.#stored)));
    } catch (error) {
      if (!(error instanceof KeyExistsError)) throw error;
      await this.#refresh();
    }
  }

  async #refresh(): Promise<void> {
    this.#adopt(await this.storage.get(key));
  }

  /** Writes that were under way when a record was read may be newer than it. */
  #adopt(record: StorageRecord | undefined): void {
    if (!record || record.revision < this.#revision) return;
    this.#revision = record.revision;
    this.#stored = decodeRange(record.value, this.range) ?? new PortBitmap(this.range);
  }

  /** Resolves with false if somebody else was faster. */
  #change(port: number, taken: boolean): Promise<boolean> {
    if (taken) this.#reserved.add(port);
    return new Promise<boolean>((resolve, reject) => {
      this.#waiting.push({ port, taken, resolve, reject });
      if (!this.#writing) void this.#write();
    }).finally(() => {
      if (taken) this.#reserved.delete(port);
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    // Changes of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }

  async #writeBatch(batch: readonly Change[]): Promise<void> {
    for (;;) {
      const next = this.#stored.copy();
      const outcomes = batch.map(({ port, taken }) => {
        const changes = next.has(port) !== taken;
        next.set(port, taken);
        return changes || !taken;
      });
      try {
        if (this.#revision === 0) this.#adopt(await this.storage.create(key, () => encodeRange(next)));
        else if (!next.equals(this.#stored)) this.#adopt(await this.storage.update(key, this.#revision, () => encodeRange(next)));
      } catch (error) {
        if (error instanceof KeyExistsError) await this.#refresh();
        else if (!(error instanceof ConflictError)) throw error;
        else if (error.current) this.#adopt(error.current);
        else this.#revision = 0;
        continue;
      }
      for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at] as boolean);
      return;
    }
  }
}

function encodeRange(bitmap: PortBitmap): Buffer {
  return Buffer.from(
    `${JSON.stringify({
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range: formatPortRange(bitmap.range),
      data: bitmap.toBytes().toString('base64'),
    })}\n`,
  );
}

/** undefined if it is of another range: services are asked again then which ports they have. */
function decodeRange(bytes: Buffer, range: PortRange): PortBitmap | undefined {
  const stored = JSON.parse(bytes.toString()) as { readonly range?: string; readonly data?: string };
  if (stored.range !== formatPortRange(range)) return undefined;
  return PortBitmap.fromBytes(range, Buffer.from(stored.data ?? '', 'base64'));
}

/**
 * The node ports that one write of a service takes and gives back. Ports are taken at once and given back at the end,
 * because a leaked port is better than one with two owners. Upstream: core/service/portallocator/operation.go.
 */
export class NodePortOperation {
  readonly #allocated: number[] = [];
  readonly #released: number[] = [];

  constructor(
    readonly allocator: NodePortAllocator,
    readonly dryRun: boolean,
  ) {}

  async allocate(port: number): Promise<void> {
    if (!this.dryRun) await this.allocator.allocate(port);
    else {
      await this.allocator.load();
      if (this.allocator.has(port) || this.#allocated.includes(port))
        throw new AllocationError('allocated', 'provided port is already allocated');
    }
    this.#allocated.push(port);
  }

  /** With dry run, a number beyond the default range that nobody can mistake for a real one. */
  async allocateNext(): Promise<number> {
    const port = this.dryRun ? Math.max(32_768, ...this.#allocated) + 1 : await this.allocator.allocateNext();
    this.#allocated.push(port);
    return port;
  }

  releaseDeferred(port: number): void {
    this.#released.push(port);
  }

  /** Ends it: gives back what the write left, or, if it failed, what it took. */
  async finish(success: boolean): Promise<void> {
    if (this.dryRun) return;
    await Promise.all((success ? this.#released : this.#allocated).map((port) => this.allocator.release(port)));
  }
}
