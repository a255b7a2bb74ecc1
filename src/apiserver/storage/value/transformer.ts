import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Transformation, TransformationListener } from './transformation-metrics.ts';

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
const noMatch = 'no matching prefix found';

/**
 * Writes with the first, reads with whichever wrote. A value that none of them wrote cannot be read; one that was not written
 * with the key of the first is stale: its next write is one, though nothing of it changes.
 * Upstream: apiserver/pkg/storage/value/transformer.go (prefixTransformers).
 */
export class TransformerChain {
  readonly #transformers: readonly { readonly transformer: Transformer; readonly prefix: Buffer }[];

  constructor(
    transformers: readonly Transformer[],
    private readonly onTransformation: TransformationListener = () => {},
  ) {
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
    const stored = this.#told('to_storage', first.transformer, () => first.transformer.toStorage(value, context));
    return first.prefix.length === 0 ? stored : Buffer.concat([first.prefix, stored]);
  }

  fromStorage(stored: Buffer, context: string): { readonly value: Buffer; readonly form: string } {
    let failure: Error | undefined;
    for (const { transformer, prefix } of this.#owners(stored)) {
      try {
        const read = (): Transformed => transformer.fromStorage(stored.subarray(prefix.length), context);
        const { value, keyId } = this.#told('from_storage', transformer, read);
        return { value, form: formOf(transformer, keyId) };
      } catch (error) {
        // A key of the same name may have been replaced: another one may read it.
        failure ??= error as Error;
      }
    }
    if (!failure) this.onTransformation('from_storage', 'unknown', 0, noMatch);
    throw failure ?? new Error(noMatch);
  }

  /** To be waited for before `fromStorage`; undefined: there is nothing to wait for. */
  prepare(stored: Buffer): Promise<void> | undefined {
    for (const { transformer, prefix } of this.#owners(stored)) {
      const preparing = transformer.prepare?.(stored.subarray(prefix.length));
      preparing?.catch((error: unknown) => this.onTransformation('from_storage', nameOf('from_storage', transformer), 0, error));
      return preparing;
    }
    return undefined;
  }

  #told<T>(transformation: Transformation, transformer: Transformer, work: () => T): T {
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

/** As upstream's metrics call it. */
function nameOf(transformation: Transformation, { prefix }: Transformer): string {
  return prefix === '' && transformation === 'from_storage' ? 'identity' : prefix;
}

function formOf({ prefix }: Transformer, keyId: string): string {
  return prefix + keyId;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
