import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Revision } from '../storage.ts';
import type { Clock } from '#apiserver/base/clock';
import { labelsOf, type LabelsPlace, narrow, type NarrowedObject } from './large-object.ts';
import { spliceResourceVersion } from './resource-version.ts';
import { type Memory, SlabMemory, type Tenant } from './slab-memory.ts';

/** Reader for the objects of one resource. */
export interface ObjectReader {
  /** Parses an object; may throw. The result is shared and must not be modified. */
  parse(bytes: Buffer): KubeObject;
  /** Parses a large object, yielding between chunks. */
  parseSteps(bytes: Buffer): Steps<KubeObject>;
  /** Returns the selectable fields, including `metadata.name` and `metadata.namespace`. */
  fields(object: KubeObject): Readonly<Record<string, string>>;
  /** Paths of the maps that `fields` reads and of their parents (`pathsAround`). */
  readonly fieldPaths: ReadonlySet<string>;
}

/**
 * Maximum number of parsed objects in memory, for all resources together. `parsedBytes` limits their size. Evicted objects
 * are parsed again on access.
 */
const parsedObjects = 2048;
const parsedBytes = 16 * 1024 * 1024;

interface Parsed {
  readonly object: KubeObject;
  /** Index of the owner in the ring. */
  readonly slot: number;
}

/** Owners of parsed objects in insertion order, from `oldest` to `next`, with gaps where objects were evicted. */
const ring = {
  owners: new Array<CachedObject | undefined>(parsedObjects).fill(undefined),
  oldest: 0,
  next: 0,
  bytes: 0,
};

/** Bytes of all cached objects, for all resources together. */
const slabs = new SlabMemory();

type Labels = Readonly<Record<string, string>>;

const noLabels: Labels = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * One state of one object. `bytes` is the served form; everything else is derived from it on first access. A cache calls
 * `settle` when it stores the object and `retire` when it drops it; readers may use it before, between and after.
 */
export class CachedObject implements Tenant {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly size: number;
  #home: Memory;
  #start = 0;
  #index = -1;
  readonly #reader: ObjectReader;
  /** The reason why the stored record is unusable (for example, decryption failed). Every other access throws it. */
  readonly failure: Error | undefined;
  #parsed: Parsed | undefined = undefined;
  /** Labels of a small object, parsed on first access. */
  #labels: Labels | undefined = undefined;
  /** Position of a large object's labels in its JSON. */
  #labelsPlace: LabelsPlace | undefined = undefined;
  #fields: Labels | undefined = undefined;

  constructor(key: string, revision: Revision, createRevision: Revision, bytes: Buffer, reader: ObjectReader, failure?: Error) {
    this.key = key;
    this.revision = revision;
    this.createRevision = createRevision;
    this.size = bytes.length;
    this.#home = { memory: bytes };
    this.#reader = reader;
    this.failure = failure;
  }

  /** The object itself. Throws the failure if the record is unusable. */
  get readable(): this {
    if (this.failure) throw this.failure;
    return this;
  }

  /** JSON in the storage version, with its resourceVersion. */
  get bytes(): Buffer {
    if (this.failure) throw this.failure;
    const { memory } = this.#home;
    return memory.length === this.size ? memory : memory.subarray(this.#start, this.#start + this.size);
  }

  /** Called when a cache stores the object for long: moves its bytes to the shared slabs. */
  settle(): void {
    if (!this.failure) slabs.hold(this);
  }

  /** Called when the cache drops the object. Readers that still hold it can continue to use it. */
  retire(): void {
    this.forget();
    slabs.release(this.#home, this.#index);
  }

  moveTo(home: Memory, start: number, index: number): void {
    this.#home = home;
    this.#start = start;
    this.#index = index;
  }

  /** The parsed object, shared; it must not be modified. */
  get object(): KubeObject {
    if (this.#parsed) return this.#parsed.object;
    const object = this.#reader.parse(this.bytes);
    this.#keep(object);
    return object;
  }

  /** True if `object` has been parsed. */
  get isParsed(): boolean {
    return this.#parsed !== undefined;
  }

  /** Parses `object`, yielding between chunks if it is large. */
  *parseSteps(): Steps<void> {
    if (!needsSteps(this.size) || this.#parsed || !memos.parsedObjects) return;
    const object = yield* this.#reader.parseSteps(this.bytes);
    if (!this.#parsed) this.#keep(object);
  }

  #keep(object: KubeObject): void {
    if (!memos.parsedObjects) return;
    this.#parsed = { object, slot: ring.next };
    ring.owners[ring.next] = this;
    ring.next = (ring.next + 1) % parsedObjects;
    ring.bytes += this.size;
    // One slot stays free, which distinguishes a full ring from an empty one. The newest object stays, whatever its size.
    while (ring.next === ring.oldest || (ring.bytes > parsedBytes && ring.owners[ring.oldest] !== this)) {
      ring.owners[ring.oldest]?.forget();
      ring.oldest = (ring.oldest + 1) % parsedObjects;
    }
  }

  /** Drops the parsed form; the next access parses again. */
  forget(): void {
    if (!this.#parsed) return;
    ring.owners[this.#parsed.slot] = undefined;
    ring.bytes -= this.size;
    this.#parsed = undefined;
  }

  /** Returns the labels with these keys, and possibly others. */
  labelsOf(keys: readonly string[]): Labels {
    if (!needsSteps(this.size)) return (this.#labels ??= this.object.metadata.labels ?? noLabels);
    const { start, end } = (this.#labelsPlace ??= this.#narrow().labels);
    return start === end ? noLabels : labelsOf(this.bytes.subarray(start, end), keys);
  }

  get fields(): Labels {
    return (this.#fields ??= this.#reader.fields(this.#withoutLongParts()));
  }

  get uid(): string {
    return this.#withoutLongParts().metadata.uid ?? '';
  }

  #withoutLongParts(): KubeObject {
    return needsSteps(this.size) ? this.#reader.parse(this.#narrow().json) : this.object;
  }

  #narrow(): NarrowedObject {
    const narrowed = narrow(this.bytes, this.#reader.fieldPaths);
    this.#labelsPlace = narrowed.labels;
    return narrowed;
  }

  /** Returns the same state at another revision, as a DELETED event carries it. */
  at(revision: Revision): CachedObject {
    const bytes = this.failure ? this.#home.memory : spliceResourceVersion(this.bytes, revision);
    return new CachedObject(this.key, revision, this.createRevision, bytes, this.#reader, this.failure);
  }
}

/** Compacts one of the slabs that are mostly unused. */
export function tidyMemory(): void {
  slabs.tidy();
}

/** Interval of `cool`. An unread object is compressed after one to two intervals. */
const coolEveryMs = 10_000;

/**
 * Longest pause between two slabs. A burst of writes leaves hundreds of slabs; without pauses they would block requests for
 * 100 ms.
 */
const maxPauseMs = 20;

/** Compacts slabs and compresses unread objects of all caches of the process until disposed. */
export function coolRegularly(clock: Clock): Disposable {
  const pause = (): Promise<void> =>
    new Promise((resolve) => void clock.after(Math.min(coolEveryMs / 2 / slabs.size, maxPauseMs), resolve));
  const stop = clock.every(coolEveryMs, () => void slabs.cool(pause));
  return { [Symbol.dispose]: stop };
}

/** Returns the bytes of cached objects and the memory that they occupy, for all caches of the process. */
export function heldBytes(): { readonly live: number; readonly footprint: number } {
  return { live: slabs.live, footprint: slabs.footprint };
}
