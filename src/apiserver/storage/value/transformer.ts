import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Transformation, TransformationListener } from './transformation-metrics.ts';

/** Converts values to their stored form and back. `context` is the storage key, to which the value is bound. */
export interface Transformer {
  /** Prefix of stored values, for example `k8s:enc:aesgcm:v1:key1:`; empty for unencrypted values. */
  readonly prefix: string;
  /** Identifies the write key without revealing it. A value with another key id is stale. */
  readonly keyId: string;
  /** Throws if writes are impossible at the moment. */
  toStorage(value: Buffer, context: string): Buffer;
  /** `stored` excludes the prefix. Throws if it cannot be read. */
  fromStorage(stored: Buffer, context: string): Transformed;
  /**
   * Prepares `fromStorage`. The caller awaits the promise; undefined if no preparation is needed. Rejects with an
   * UnavailableError if the value cannot be read at the moment.
   */
  prepare?(stored: Buffer): Promise<void> | undefined;
}

/** A plain value and the id of the key that it was written with. */
export interface Transformed {
  readonly value: Buffer;
  readonly keyId: string;
}

/** Returns an identifier of a key that reveals nothing about it. */
export function keyFingerprint(key: Buffer): string {
  return createHash('sha256').update('kubenest encryption key').update(key).digest('base64url');
}

/** The transformer of unencrypted values. */
export const identity: Transformer = {
  prefix: '',
  keyId: '',
  toStorage: (value) => value,
  fromStorage: (value) => ({ value, keyId: '' }),
};

const encryptedPrefix = Buffer.from('k8s:enc:');
const noMatch = 'no matching prefix found';

/**
 * A list of transformers: the first one writes, and the one whose prefix and key match reads. A value that none can read is
 * an error. A value that was not written with the key of the first is stale, so that its next write happens even without
 * changes. Upstream: apiserver/pkg/storage/value/transformer.go (prefixTransformers).
 */
export class TransformerChain {
  readonly #transformers: readonly { readonly transformer: Transformer; readonly prefix: Buffer }[];

  constructor(
    transformers: readonly Transformer[],
    private readonly onTransformation: TransformationListener = () => {},
  ) {
    this.#transformers = transformers.map((transformer) => ({ transformer, prefix: Buffer.from(transformer.prefix) }));
  }

  /** Prefix and id of the write key. A value read with another `form` is stale. */
  get form(): string {
    const first = this.#transformers[0]?.transformer;
    return first ? formOf(first, first.keyId) : '';
  }

  toStorage(value: Buffer, context: string): Buffer {
    const first = this.#transformers[0];
    if (!first) return value;
    const stored = this.#measured('to_storage', first.transformer, () => first.transformer.toStorage(value, context));
    return first.prefix.length === 0 ? stored : Buffer.concat([first.prefix, stored]);
  }

  fromStorage(stored: Buffer, context: string): { readonly value: Buffer; readonly form: string } {
    let failure: Error | undefined;
    for (const { transformer, prefix } of this.#owners(stored)) {
      try {
        const read = (): Transformed => transformer.fromStorage(stored.subarray(prefix.length), context);
        const { value, keyId } = this.#measured('from_storage', transformer, read);
        return { value, form: formOf(transformer, keyId) };
      } catch (error) {
        // A key with the same name may have been replaced, so a later transformer may succeed.
        failure ??= error as Error;
      }
    }
    if (!failure) this.onTransformation('from_storage', 'unknown', 0, noMatch);
    throw failure ?? new Error(noMatch);
  }

  /** Prepares `fromStorage`. The caller awaits the promise; undefined if no preparation is needed. */
  prepare(stored: Buffer): Promise<void> | undefined {
    for (const { transformer, prefix } of this.#owners(stored)) {
      const preparing = transformer.prepare?.(stored.subarray(prefix.length));
      preparing?.catch((error: unknown) => this.onTransformation('from_storage', nameOf('from_storage', transformer), 0, error));
      return preparing;
    }
    return undefined;
  }

  #measured<T>(transformation: Transformation, transformer: Transformer, work: () => T): T {
    const name = nameOf(transformation, transformer);
    const began = performance.now();
    try {
      const result = work();
      this.onTransformation(transformation, name, performance.now() - began);
      return result;
    } catch (error) {
      this.onTransformation(transformation, name, performance.now() - began, error);
      throw error;
    }
  }

  *#owners(stored: Buffer): Iterable<{ readonly transformer: Transformer; readonly prefix: Buffer }> {
    for (const one of this.#transformers) {
      if (one.prefix.length === 0 ? !startsWith(stored, encryptedPrefix) : startsWith(stored, one.prefix)) yield one;
    }
  }
}

/** Returns the name of a transformation in upstream's metrics. */
function nameOf(transformation: Transformation, { prefix }: Transformer): string {
  return prefix === '' && transformation === 'from_storage' ? 'identity' : prefix;
}

function formOf({ prefix }: Transformer, keyId: string): string {
  return prefix + keyId;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
