import { Buffer } from 'node:buffer';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { AllocationCounts } from './allocation-counts.ts';
import { AllocationError } from './allocation-error.ts';
import { formatPortRange, PortBitmap, type PortRange } from './port-bitmap.ts';

/** Key of upstream's RangeAllocation object, which no API serves. */
const key = '/ranges/servicenodeports';

/** One allocation or release that is waiting to be stored. */
interface Change {
  readonly port: number;
  readonly taken: boolean;
  resolve(stored: boolean): void;
  reject(error: unknown): void;
}

/**
 * Allocator of node ports, backed by one stored bitmap. Changes during a write are batched into the next write; each write is a
 * compare-and-swap, so that servers with a common store cannot allocate a port twice. Upstream:
 * core/service/{portallocator,allocator/storage}.
 */
export class NodePortAllocator {
  /** Allocation counts for /metrics. */
  readonly counts = new AllocationCounts();
  /** The bitmap as last read from the store. */
  #stored: PortBitmap;
  /** 0 if nothing is stored yet. */
  #revision: Revision = 0;
  /** Ports that are reserved in this process and not yet stored. */
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

  /** Allocates the given port. Rejects with AllocationError `allocated` or `notInRange`. */
  allocate(port: number): Promise<void> {
    return this.counts.count('static', () => this.#allocate(port));
  }

  async #allocate(port: number): Promise<void> {
    this.#stored.checkRange(port);
    await this.load();
    // Another server may have released it meanwhile.
    if (this.#stored.has(port)) await this.#refresh();
    if (this.has(port) || !(await this.#change(port, true))) throw new AllocationError('allocated', 'provided port is already allocated');
  }

  /** Allocates any free port. Rejects with AllocationError `full`. */
  allocateNext(): Promise<number> {
    return this.counts.count('dynamic', () => this.#allocateNext());
  }

  /** Number of allocated and available ports, as last read from the store. */
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

  /** Releases a port; does nothing if it is free or out of range. */
  async release(port: number): Promise<void> {
    await this.load();
    if (this.#stored.has(port)) await this.#change(port, false);
  }

  /** True if the port is known as allocated. */
  has(port: number): boolean {
    return this.#stored.has(port) || this.#reserved.has(port);
  }

  /** Loads the stored bitmap once. */
  load(): Promise<void> {
    this.#loaded ??= this.#refresh().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /** Reads the stored bitmap again. */
  async snapshot(): Promise<PortBitmap> {
    await this.load();
    await this.#refresh();
    return this.#stored.copy();
  }

  /** Allocates ports that services have and the store lacks, and releases leaked ones. Writes only if there is a change. */
  async repair(missing: Iterable<number>, leaked: Iterable<number>): Promise<void> {
    await this.load();
    const free = [...new Set(missing)].filter((port) => this.#stored.contains(port) && !this.has(port));
    await Promise.all([...free.map((port) => this.#change(port, true)), ...[...leaked].map((port) => this.release(port))]);
    if (this.#revision === 0) await this.#initialize();
  }

  /** Stores an empty bitmap, which records the range. */
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

  /** Adopts a record, unless a concurrent write has stored a newer one. */
  #adopt(record: StorageRecord | undefined): void {
    if (!record || record.revision < this.#revision) return;
    this.#revision = record.revision;
    this.#stored = decodeRange(record.value, this.range) ?? new PortBitmap(this.range);
  }

  /** Resolves with false if another server changed the port first. */
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
    // Batches the changes of the same event loop turn.
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

/** Returns the bitmap; undefined if it has another range, after which repair adds the ports of all services. */
function decodeRange(bytes: Buffer, range: PortRange): PortBitmap | undefined {
  const stored = JSON.parse(bytes.toString()) as { readonly range?: string; readonly data?: string };
  if (stored.range !== formatPortRange(range)) return undefined;
  return PortBitmap.fromBytes(range, Buffer.from(stored.data ?? '', 'base64'));
}

/**
 * The node ports that one write of a service allocates and releases. It allocates at once and releases at the end, because a leaked port is
 * safer than a port with two owners. Upstream: core/service/portallocator/operation.go.
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

  /** Allocates any port. A dry run returns a number outside the default range, which cannot be mistaken for a real one. */
  async allocateNext(): Promise<number> {
    const port = this.dryRun ? Math.max(32_768, ...this.#allocated) + 1 : await this.allocator.allocateNext();
    this.#allocated.push(port);
    return port;
  }

  releaseDeferred(port: number): void {
    this.#released.push(port);
  }

  /** Releases the ports that the write no longer uses, or after a failure those that it allocated. */
  async finish(success: boolean): Promise<void> {
    if (this.dryRun) return;
    await Promise.all((success ? this.#released : this.#allocated).map((port) => this.allocator.release(port)));
  }
}
