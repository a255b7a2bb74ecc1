/** Trace events of a write to the storage. */
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode } from '#apiserver/storage/storage';
import type { TellEvent } from '#apiserver/request/request-span';

/**
 * Wraps an encoder to record the start and end of encoding, and then the event `then`. Upstream:
 * apiserver/pkg/storage/etcd3/store.go.
 */
export function encodingTold(encode: Encode, tell: TellEvent, then?: string): Encode {
  return (revision) => {
    tell('About to Encode');
    const bytes = encode(revision);
    tell('Encode succeeded', [['len', bytes.length]]);
    if (then !== undefined) tell(then);
    return bytes;
  };
}

/** Records that a transaction completed or failed. */
export async function toldOf<T>(tell: TellEvent, done: string, written: Promise<T>): Promise<T> {
  try {
    const result = await written;
    tell(done);
    return result;
  } catch (error) {
    // Another client wrote first; the transaction itself succeeded.
    if (error instanceof ConflictError || error instanceof KeyExistsError) tell(done);
    else tell('Txn call failed', [['err', (error as Error).message]]);
    throw error;
  }
}
