import type { Buffer } from 'node:buffer';
import type { CommitFeed, Encode, Revision, Storage, StorageRecord } from '../storage.ts';
import { UndecodableRecordError } from '../errors.ts';
import { ValueStorage } from './value-storage.ts';

/** Conversion of a resource's objects to their stored form: without resourceVersion, which the store keeps itself. */
export interface ObjectForm {
  /** Converts the served JSON of an object in the storage version to the stored form. */
  toStorage(json: Buffer): Buffer;
  /** Returns JSON in the storage version with its resourceVersion. Throws if the stored form cannot be read. */
  fromStorage(stored: Buffer, revision: Revision): Buffer;
}

/**
 * A store shared with other API servers: it stores objects in the form of kube-apiserver. Keys without a form are stored
 * unchanged.
 */
export class ObjectStorage extends ValueStorage {
  /** The JSON of each stored buffer that this process wrote, so that it need not be decoded. */
  readonly #written = new WeakMap<Buffer, Buffer>();

  constructor(
    storage: Storage & Partial<CommitFeed>,
    private readonly formOf: (key: string) => ObjectForm | undefined,
  ) {
    super(storage);
  }

  override get verifiesValues(): boolean {
    return true;
  }

  protected encoding(key: string, encode: Encode): Encode {
    const form = this.formOf(key);
    if (!form) return encode;
    // A store that learns its revision afterwards calls again; the stored form is the same and expensive to encode, so it is
    // reused.
    let stored: Buffer | undefined;
    return (revision) => {
      const json = encode(revision);
      stored ??= form.toStorage(json);
      this.#written.set(stored, json);
      return stored;
    };
  }

  protected readerOf(key: string): ((record: StorageRecord) => Buffer) | undefined {
    const form = this.formOf(key);
    return form && ((record) => this.#written.get(record.value) ?? readWith(form, record));
  }
}

function readWith(form: ObjectForm, { key, value, revision }: StorageRecord): Buffer {
  try {
    return form.fromStorage(value, revision);
  } catch (error) {
    throw new UndecodableRecordError(key, revision, (error as Error).message, { cause: error });
  }
}
