import type { Buffer } from 'node:buffer';
import { CorruptRecordError, UnavailableError } from '../errors.ts';
import type { CommitFeed, Encode, Revision, Storage, StorageRecord } from '../storage.ts';
import type { TransformerChain } from './transformer.ts';
import { ValueStorage } from './value-storage.ts';

/** How the values of a key are written; undefined: as they are. */
export type TransformersOf = (key: string) => TransformerChain | undefined;

/** The prefix that keys have in etcd: values are bound to the whole key, so that either store reads what the other wrote. */
const root = '/registry';

/**
 * A store whose values are encrypted by what their keys name. Whoever reads gets what was written, whoever looks into the
 * store does not. Values that were written with another key than they would be now are stale: `needsRewrite` tells so, until they are
 * written again. Upstream: apiserver/pkg/server/options/encryptionconfig, storage/value.
 */
export class EncryptedStorage extends ValueStorage {
  /** Of the newest record that was read of a key, with what it was written. */
  readonly #forms = new Map<string, { readonly revision: Revision; readonly form: string }>();
  /** Of what was stored what it was made of: who wrote it need not decrypt it. */
  readonly #written = new WeakMap<Buffer, { readonly value: Buffer; readonly form: string }>();

  constructor(
    storage: Storage & Partial<CommitFeed>,
    private transformersOf: TransformersOf,
  ) {
    super(storage);
  }

  /** Writes with others from the next write on. Values stay readable as long as one of them can read them. */
  replace(transformersOf: TransformersOf): void {
    this.transformersOf = transformersOf;
  }

  override needsRewrite(key: string): boolean {
    const read = this.#forms.get(key);
    return (read !== undefined && read.form !== this.transformersOf(key)?.form) || super.needsRewrite(key);
  }

  protected encoding(key: string, encode: Encode): Encode {
    const transformers = this.transformersOf(key);
    if (!transformers) return encode;
    return (revision) => {
      const value = encode(revision);
      const { form } = transformers;
      try {
        const stored = transformers.toStorage(value, root + key);
        this.#written.set(stored, { value, form });
        return stored;
      } catch (cause) {
        throw new UnavailableError(`unable to transform key ${JSON.stringify(root + key)}: ${(cause as Error).message}`, { cause });
      }
    };
  }

  protected override prepare({ key, value }: StorageRecord): Promise<void> | undefined {
    return this.#written.has(value) ? undefined : this.transformersOf(key)?.prepare(value);
  }

  protected readerOf(key: string): ((record: StorageRecord) => Buffer) | undefined {
    return this.transformersOf(key) && ((record) => this.#read(record));
  }

  /** Throws a CorruptRecordError where no provider can read the value, an UnavailableError where none can for now. */
  #read({ key, value: stored, revision }: StorageRecord): Buffer {
    const transformers = this.transformersOf(key);
    if (!transformers) return stored;
    try {
      const { value, form } = this.#written.get(stored) ?? transformers.fromStorage(stored, root + key);
      const known = this.#forms.get(key);
      if (!known || known.revision <= revision) this.#forms.set(key, { revision, form });
      return value;
    } catch (cause) {
      if (cause instanceof UnavailableError) throw cause;
      throw new CorruptRecordError(key, revision, (cause as Error).message, { cause });
    }
  }

  protected override forget(key: string): void {
    this.#forms.delete(key);
  }
}
