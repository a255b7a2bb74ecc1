import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

/** Turns values into what is written and back. `context` is bound to the value: the place where it is stored. */
export interface Transformer {
  /** With what its values begin, `k8s:enc:aesgcm:v1:key1:`; empty for values as they are. */
  readonly prefix: string;
  /** Names the key that it writes with, and says nothing of it; what was read by another one is stale. */
  readonly keyId: string;
  /** Throws where nothing can be written for now. */
  toStorage(value: Buffer, context: string): Buffer;
  /** `stored` is without the prefix. Throws where it cannot be read. */
  fromStorage(stored: Buffer, context: string): Transformed;
  /** To be waited for before `fromStorage`; undefined: there is nothing to wait for. Rejects with an UnavailableError where it cannot be read for now. */
  prepare?(stored: Buffer): Promise<void> | undefined;
}

/** A value, and the key that it was written with. */
export interface Transformed {
  readonly value: Buffer;
  readonly keyId: string;
}

/** A name for a key by which nobody learns of it. */
export function keyFingerprint(key: Buffer): string {
  return createHash('sha256').update('kubenest encryption key').update(key).digest('base64url');
}

/** Values as they are. */
export const identity: Transformer = {
  prefix: '',
  keyId: '',
  toStorage: (value) => value,
  fromStorage: (value) => ({ value, keyId: '' }),
};

const encryptedPrefix = Buffer.from('k8s:enc:');

/**
 * Writes with the first, reads with whichever wrote. A value that none of them wrote cannot be read; one that was not written
 * with the key of the first is stale: its next write is one, though nothing of it changes.
 * Upstream: apiserver/pkg/storage/value/transformer.go (prefixTransformers).
 */
export class TransformerChain {
  readonly #transformers: readonly { readonly transformer: Transformer; readonly prefix: Buffer }[];

  constructor(transformers: readonly Transformer[]) {
    this.#transformers = transformers.map((transformer) => ({ transformer, prefix: Buffer.from(transformer.prefix) }));
  }

  /** What a value is written with now: prefix and key. A value that was read with another `form` is stale. */
  get form(): string {
    const first = this.#transformers[0]?.transformer;
    return first ? formOf(first, first.keyId) : '';
  }

  toStorage(value: Buffer, context: string): Buffer {
    const first = this.#transformers[0];
    if (!first) return value;
    const stored = first.transformer.toStorage(value, context);
    return first.prefix.length === 0 ? stored : Buffer.concat([first.prefix, stored]);
  }

  fromStorage(stored: Buffer, context: string): { readonly value: Buffer; readonly form: string } {
    let failure: Error | undefined;
    for (const { transformer, prefix } of this.#owners(stored)) {
      try {
        const { value, keyId } = transformer.fromStorage(stored.subarray(prefix.length), context);
        return { value, form: formOf(transformer, keyId) };
      } catch (error) {
        // A key of the same name may have been replaced: another one may read it.
        failure ??= error as Error;
      }
    }
    throw failure ?? new Error('no matching prefix found');
  }

  /** To be waited for before `fromStorage`; undefined: there is nothing to wait for. */
  prepare(stored: Buffer): Promise<void> | undefined {
    for (const { transformer, prefix } of this.#owners(stored)) return transformer.prepare?.(stored.subarray(prefix.length));
    return undefined;
  }

  *#owners(stored: Buffer): Iterable<{ readonly transformer: Transformer; readonly prefix: Buffer }> {
    for (const one of this.#transformers) {
      if (one.prefix.length === 0 ? !startsWith(stored, encryptedPrefix) : startsWith(stored, one.prefix)) yield one;
    }
  }
}

function formOf({ prefix }: Transformer, keyId: string): string {
  return prefix + keyId;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
