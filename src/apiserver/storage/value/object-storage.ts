import type { Buffer } from 'node:buffer';
import type { CommitFeed, Encode, Revision, Storage, StorageRecord } from '../storage.ts';
import { ValueStorage } from './value-storage.ts';

/** The form in which the objects of a resource are stored: without their resourceVersion, which the store knows by itself. */
export interface ObjectForm {
  /** `json`: an object as it is served, in the storage version. */
  toStorage(json: Buffer): Buffer;
  /** JSON in the storage version, with its resourceVersion. Throws for what cannot be read. */
  fromStorage(stored: Buffer, revision: Revision): Buffer;
}

/**
 * A store that other API servers write to and read: objects stand in it as kube-apiserver stores them. Records are read when their value is
 * asked for: of most events of a shared store nobody asks, and what cannot be read concerns nobody else. Keys without a form
 * are left as they are.
 */
export class ObjectStorage extends ValueStorage {
  /** Of what was stored the JSON that it was made of: who wrote it need not read it. */
  readonly #written = new WeakMap<Buffer, Buffer>();

  constructor(
    storage: Storage & Partial<CommitFeed>,
    private readonly formOf: (key: string) => ObjectForm | undefined,
  ) {
    super(storage);
  }

  protected encoding(key: string, encode: Encode): Encode {
    const form = this.formOf(key);
    if (!form) return encode;
    return (revision) => {
      const json = encode(revision);
      const stored = form.toStorage(json);
      this.#written.set(stored, json);
      return stored;
    };
  }

  protected decode(record: StorageRecord): StorageRecord {
    const form = this.formOf(record.key);
    if (!form) return record;
    const written = this.#written.get(record.value);
    return written ? { ...record, value: written } : new StoredObject(record, form);
  }
}

class StoredObject implements StorageRecord {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly #stored: Buffer;
  readonly #form: ObjectForm;
  #value: Buffer | undefined;

  constructor({ key, revision, createRevision, value }: StorageRecord, form: ObjectForm) {
    this.key = key;
    this.revision = revision;
    this.createRevision = createRevision;
    this.#stored = value;
    this.#form = form;
  }

  /** Throws for what cannot be read. */
  get value(): Buffer {
    return (this.#value ??= this.#form.fromStorage(this.#stored, this.revision));
  }
}
