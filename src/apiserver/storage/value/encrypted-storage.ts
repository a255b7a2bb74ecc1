import type { CommitFeed, Encode, Storage, StorageRecord } from '../storage.ts';
import type { TransformerChain } from './transformer.ts';
import { ValueStorage } from './value-storage.ts';

/** How the values of a key are written; undefined: as they are. */
export type TransformersOf = (key: string) => TransformerChain | undefined;

/** The prefix that keys have in etcd: values are bound to the whole key, so that either store reads what the other wrote. */
const root = '/registry';

/**
 * A store whose values are encrypted by what their keys name. Whoever reads gets what was written, whoever looks into the
 * store does not. Values that another than the first provider wrote are stale: `needsRewrite` tells so, until they are written
 * again. Upstream: apiserver/pkg/server/options/encryptionconfig, storage/value.
 */
export class EncryptedStorage extends ValueStorage {
  readonly #stale = new Set<string>();

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
    return this.#stale.has(key);
  }

  protected encoding(key: string, encode: Encode): Encode {
    const transformers = this.transformersOf(key);
    return transformers ? (revision) => transformers.toStorage(encode(revision), root + key) : encode;
  }

  /** Throws an Error that names the key where no provider can read the value. */
  protected decode(record: StorageRecord): StorageRecord {
    const transformers = this.transformersOf(record.key);
    if (!transformers) return record;
    try {
      const { value, stale } = transformers.fromStorage(record.value, root + record.key);
      if (stale) this.#stale.add(record.key);
      else this.#stale.delete(record.key);
      return { ...record, value };
    } catch (cause) {
      throw new Error(`unable to transform key ${JSON.stringify(root + record.key)}: ${(cause as Error).message}`, { cause });
    }
  }

  protected override forget(key: string): void {
    this.#stale.delete(key);
  }
}
