import { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Revision } from '../storage.ts';
import { spliceResourceVersion } from './resource-version.ts';

/** How the objects of one resource are read. */
export interface ObjectReader {
  /** May throw. What it returns is shared and never changed. */
  parse(bytes: Buffer): KubeObject;
  /** The selectable fields, with `metadata.name` and so on among them. */
  fields(object: KubeObject): Readonly<Record<string, string>>;
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

const noLabels: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>);

/** One state of one object. Its bytes are what clients get; the rest is made of them when it is first needed. */
export class CachedObject {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly #bytes: Buffer;
  readonly #reader: ObjectReader;
  /** Why the stored record cannot be used (it cannot be decrypted, say). Then reading anything else throws it. */
  readonly failure: Error | undefined;
  #parsed: Parsed | undefined = undefined;
  #labels: Readonly<Record<string, string>> | undefined = undefined;
  #fields: Readonly<Record<string, string>> | undefined = undefined;
  /** Variants and their bytes in turn: there are few. */
  #encodings: (string | Buffer)[] | undefined = undefined;

  constructor(key: string, revision: Revision, createRevision: Revision, bytes: Buffer, reader: ObjectReader, failure?: Error) {
    this.key = key;
    this.revision = revision;
    this.createRevision = createRevision;
    this.#bytes = inOwnMemory(bytes);
    this.#reader = reader;
    this.failure = failure;
  }

  /** JSON in the storage version, with its resourceVersion. */
  get bytes(): Buffer {
    if (this.failure) throw this.failure;
    return this.#bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** Parsed from the bytes. Shared: it must not be changed. */
  get object(): KubeObject {
    if (this.#parsed) return this.#parsed.object;
    const object = this.#reader.parse(this.bytes);
    this.#parsed = { object, slot: ring.next };
    ring.owners[ring.next] = this;
    ring.next = (ring.next + 1) % parsedObjects;
    ring.bytes += this.size;
    // One place stays free, by which a full ring differs from an empty one; the newest stays, however large it is.
    while (ring.next === ring.oldest || (ring.bytes > parsedBytes && ring.owners[ring.oldest] !== this)) {
      ring.owners[ring.oldest]?.forget();
      ring.oldest = (ring.oldest + 1) % parsedObjects;
    }
    return object;
  }

  /** Lets go of the parsed form; who asks for it again parses it again. */
  forget(): void {
    if (!this.#parsed) return;
    ring.owners[this.#parsed.slot] = undefined;
    ring.bytes -= this.size;
    this.#parsed = undefined;
  }

  get labels(): Readonly<Record<string, string>> {
    return (this.#labels ??= this.object.metadata.labels ?? noLabels);
  }

  get fields(): Readonly<Record<string, string>> {
    return (this.#fields ??= this.#reader.fields(this.object));
  }

  /** The bytes of an encoding (`v2+protobuf`, say), made at the first use and kept. */
  encoded(variant: string, make: (object: CachedObject) => Buffer): Buffer {
    const encodings = (this.#encodings ??= []);
    for (let i = 0; i < encodings.length; i += 2) if (encodings[i] === variant) return encodings[i + 1] as Buffer;
    const bytes = make(this);
    encodings.push(variant, bytes);
    return bytes;
  }

  /** The same state under another revision: what a deletion shows. */
  at(revision: Revision): CachedObject {
    const bytes = this.failure ? this.#bytes : spliceResourceVersion(this.#bytes, revision);
    return new CachedObject(this.key, revision, this.createRevision, bytes, this.#reader, this.failure);
  }
}

/**
 * Small buffers are parts of pools of 8 KiB, and what a socket brought is part of what it brought at once: to keep one would
 * keep all that was beside it, which is mostly garbage by then.
 */
function inOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
