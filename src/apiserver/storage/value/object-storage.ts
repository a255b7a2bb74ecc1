import type { Buffer } from 'node:buffer';
import type { CommitFeed, Encode, Revision, Storage, StorageRecord } from '../storage.ts';
import { UndecodableRecordError } from '../errors.ts';
import { ValueStorage } from './value-storage.ts';

/** The form in which the objects of a resource are stored: without their resourceVersion, which the store knows by itself. */
export interface ObjectForm {
  /** `json`: an object as it is served, in the storage version. */
  toStorage(json: Buffer): Buffer;
  /** JSON in the storage version, with its resourceVersion. Throws for what cannot be read. */
  fromStorage(stored: Buffer, revision: Revision): Buffer;
}

/**
 * A store that other API servers write to and read: objects stand in it as kube-apiserver stores them. Keys without a form are
 * left as they are.
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

  override get verifiesValues(): boolean {
    return true;
  }

  protected encoding(key: string, encode: Encode): Encode {
    const form = this.formOf(key);
    if (!form) return encode;
    // A store that learns its revision afterwards asks again for the answer: what is stored is the same, and costs much more to make.
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
