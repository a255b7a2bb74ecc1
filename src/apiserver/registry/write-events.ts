/** Trace events of a write to the storage. */
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode } from '#apiserver/storage/storage';
import type { AddEvent } from '#apiserver/request/request-span';

/**
 * Wraps an encoder to record the start and end of encoding, and then the event `then`. Upstream:
 * apiserver/pkg/storage/etcd3/store.go.
 */
export function encodingWithEvents(encode: Encode, addEvent: AddEvent, then?: string): Encode {
  return (revision) => {
    addEvent('About to Encode');
    const bytes = encode(revision);
    addEvent('Encode succeeded', [['len', bytes.length]]);
    if (then !== undefined) addEvent(then);
    return bytes;
  };
}

/** Records that a transaction completed or failed. */
export async function withTransactionEvent<T>(addEvent: AddEvent, done: string, written: Promise<T>): Promise<T> {
  try {
    const result = await written;
    addEvent(done);
    return result;
  } catch (error) {
    // Another client wrote first; the transaction itself succeeded.
    if (error instanceof ConflictError || error instanceof KeyExistsError) addEvent(done);
    else addEvent('Txn call failed', [['err', (error as Error).message]]);
    throw error;
  }
}
