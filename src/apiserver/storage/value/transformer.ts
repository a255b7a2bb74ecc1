import { Buffer } from 'node:buffer';

/** Turns values into what is written and back. `context` is bound to the value: the place where it is stored. */
export interface Transformer {
  /** With what its values begin, `k8s:enc:aesgcm:v1:key1:`; empty for values as they are. */
  readonly prefix: string;
  toStorage(value: Buffer, context: string): Buffer;
  /** `stored` is without the prefix. Throws where it cannot be read. */
  fromStorage(stored: Buffer, context: string): Buffer;
}

/** Values as they are. */
export const identity: Transformer = { prefix: '', toStorage: (value) => value, fromStorage: (stored) => stored };

const encryptedPrefix = Buffer.from('k8s:enc:');

/**
 * Writes with the first, reads with whichever wrote. A value that none of them wrote cannot be read; one that was written by
 * another than the first is stale: its next write is one, though nothing of it changes.
 * Upstream: apiserver/pkg/storage/value/transformer.go (prefixTransformers).
 */
export class TransformerChain {
  readonly #transformers: readonly { readonly transformer: Transformer; readonly prefix: Buffer }[];

  constructor(transformers: readonly Transformer[]) {
    this.#transformers = transformers.map((transformer) => ({ transformer, prefix: Buffer.from(transformer.prefix) }));
  }

  toStorage(value: Buffer, context: string): Buffer {
    const first = this.#transformers[0];
    if (!first) return value;
    const stored = first.transformer.toStorage(value, context);
    return first.prefix.length === 0 ? stored : Buffer.concat([first.prefix, stored]);
  }

  fromStorage(stored: Buffer, context: string): { readonly value: Buffer; readonly stale: boolean } {
    let failure: Error | undefined;
    for (const [index, { transformer, prefix }] of this.#transformers.entries()) {
      const isOwn = prefix.length === 0 ? !startsWith(stored, encryptedPrefix) : startsWith(stored, prefix);
      if (!isOwn) continue;
      try {
        return { value: transformer.fromStorage(stored.subarray(prefix.length), context), stale: index > 0 };
      } catch (error) {
        // A key of the same name may have been replaced: another one may read it.
        failure ??= error as Error;
      }
    }
    throw failure ?? new Error('no matching prefix found');
  }
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
