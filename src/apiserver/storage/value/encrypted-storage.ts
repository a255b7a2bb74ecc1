import type { Buffer } from 'node:buffer';
import { CorruptRecordError, UnavailableError } from '../errors.ts';
import type { CommitFeed, Encode, Revision, Storage, StorageRecord } from '../storage.ts';
import type { TransformerChain } from './transformer.ts';
import { ValueStorage } from './value-storage.ts';

/** Returns the transformers for the values of a key; undefined if they are stored unencrypted. */
export type TransformersOf = (key: string) => TransformerChain | undefined;

/** The prefix of keys in etcd. Values are bound to the full key, so each store can read values that the other wrote. */
const root = '/registry';

/**
 * A store that encrypts values, with a transformer chain for each key. Readers get the plain values. A value that was
 * written with another key than the current write key is stale: `needsRewrite` returns true until it is rewritten. Upstream:
 * apiserver/pkg/server/options/encryptionconfig, storage/value.
 */
export class EncryptedStorage extends ValueStorage {
  /** The form (prefix and key) of the newest record read, by storage key. */
  readonly #forms = new Map<string, { readonly revision: Revision; readonly form: string }>();
  /** The plain value and form of each stored buffer that this process wrote, so that it need not be decrypted. */
  readonly #written = new WeakMap<Buffer, { readonly value: Buffer; readonly form: string }>();

  constructor(
    storage: Storage & Partial<CommitFeed>,
    private transformersOf: TransformersOf,
  ) {
    super(storage);
  }

  /**
   * Replaces the transformers from the next write on. Values stay readable as long as one of the new transformers can read
   * them.
   */
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

  /** Throws a CorruptRecordError if no provider can read the value, an UnavailableError if none can read it at the moment. */
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
