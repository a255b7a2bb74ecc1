import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Revision } from '../storage.ts';
import type { Clock } from '#apiserver/base/clock';
import { labelsOf, type LabelsPlace, narrow, type NarrowedObject } from './large-object.ts';
import { spliceResourceVersion } from './resource-version.ts';
import { type Memory, SlabMemory, type Tenant } from './slab-memory.ts';

/** How the objects of one resource are read. */
export interface ObjectReader {
  /** May throw. What it returns is shared and never changed. */
  parse(bytes: Buffer): KubeObject;
  /** The same of a large object, in steps. */
  parseSteps(bytes: Buffer): Steps<KubeObject>;
  /** The selectable fields, with `metadata.name` and so on among them. */
  fields(object: KubeObject): Readonly<Record<string, string>>;
  /** The maps that `fields` reads, and those around them (`pathsAround`). */
  readonly fieldPaths: ReadonlySet<string>;
}

/** So many parsed objects stay in memory, and of so many bytes, of all resources together; the others are parsed again when they are needed. */
const parsedObjects = 2048;
const parsedBytes = 16 * 1024 * 1024;

interface Parsed {
  readonly object: KubeObject;
  /** Where in the ring its owner stands. */
  readonly slot: number;
}

/** Who has a parsed object, in the order in which they came: from `oldest` to `next`, with gaps where some have forgotten it. */
const ring = {
  owners: new Array<CachedObject | undefined>(parsedObjects).fill(undefined),
  oldest: 0,
  next: 0,
  bytes: 0,
};

/** The bytes of what caches hold, of all resources together. */
const slabs = new SlabMemory();

type Labels = Readonly<Record<string, string>>;

const noLabels: Labels = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * One state of one object. Its bytes are what clients get; the rest is made of them when it is first needed. A cache that
 * holds it tells so (`settle`, `retire`); others may use it before, meanwhile and after.
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
  /** Why the stored record cannot be used (it cannot be decrypted, say). Then reading anything else throws it. */
  readonly failure: Error | undefined;
  #parsed: Parsed | undefined = undefined;
  /** Of a small object. */
  #labels: Labels | undefined = undefined;
  /** Of a large one. */
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

  /** Itself; throws why it cannot be used. */
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

  /** It will be held for long: its bytes go where those of others are. */
  settle(): void {
    if (!this.failure) slabs.hold(this);
  }

  /** It is held no longer. Who still has it may go on to read it. */
  retire(): void {
    this.forget();
    slabs.release(this.#home, this.#index);
  }

  moveTo(home: Memory, start: number, index: number): void {
    this.#home = home;
    this.#start = start;
    this.#index = index;
  }

  /** Parsed from the bytes. Shared: it must not be changed. */
  get object(): KubeObject {
    if (this.#parsed) return this.#parsed.object;
    const object = this.#reader.parse(this.bytes);
    this.#keep(object);
    return object;
  }

  /** Whether `object` is there already. */
  get isParsed(): boolean {
    return this.#parsed !== undefined;
  }

  /** Has `object` there in the end, of a large one in steps. */
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
    // One place stays free, by which a full ring differs from an empty one; the newest stays, however large it is.
    while (ring.next === ring.oldest || (ring.bytes > parsedBytes && ring.owners[ring.oldest] !== this)) {
      ring.owners[ring.oldest]?.forget();
      ring.oldest = (ring.oldest + 1) % parsedObjects;
    }
  }

  /** Lets go of the parsed form; who asks for it again parses it again. */
  forget(): void {
    if (!this.#parsed) return;
    ring.owners[this.#parsed.slot] = undefined;
    ring.bytes -= this.size;
    this.#parsed = undefined;
  }

  /** The labels with these keys, and perhaps others. */
  labelsOf(keys: readonly string[]): Labels {
    if (!needsSteps(this.size)) return (this.#labels ??= this.object.metadata.labels ?? noLabels);
    const { start, end } = (this.#labelsPlace ??= this.#narrow().labels);
    return start === end ? noLabels : labelsOf(this.bytes.subarray(start, end), keys);
  }

  get fields(): Labels {
    return (this.#fields ??= this.#reader.fields(needsSteps(this.size) ? this.#reader.parse(this.#narrow().json) : this.object));
  }

  #narrow(): NarrowedObject {
    const narrowed = narrow(this.bytes, this.#reader.fieldPaths);
    this.#labelsPlace = narrowed.labels;
    return narrowed;
  }

  /** The same state under another revision: what a deletion shows. */
  at(revision: Revision): CachedObject {
    const bytes = this.failure ? this.#home.memory : spliceResourceVersion(this.bytes, revision);
    return new CachedObject(this.key, revision, this.createRevision, bytes, this.#reader, this.failure);
  }
}

/** Moves together some of what is left where many have retired. */
export function tidyMemory(): void {
  slabs.tidy();
}

/** How often what nobody reads is looked for: it is packed after one to two times this. */
const coolEveryMs = 10_000;

/** Between two slabs, at most: a burst of writes leaves hundreds of them, which would hold requests up for 100 ms one right after the other. */
const maxPauseMs = 20;

/** Moves together and packs the bytes of objects that nobody reads, of all caches of the process, until it is disposed of. */
export function coolRegularly(clock: Clock): Disposable {
  const pause = (): Promise<void> =>
    new Promise((resolve) => void clock.after(Math.min(coolEveryMs / 2 / slabs.size, maxPauseMs), resolve));
  const stop = clock.every(coolEveryMs, () => void slabs.cool(pause));
  return { [Symbol.dispose]: stop };
}

/** What the bytes of objects take, of all caches of the process. */
export function heldBytes(): { readonly live: number; readonly footprint: number } {
  return { live: slabs.live, footprint: slabs.footprint };
}
