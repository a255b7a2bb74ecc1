/** What a trace tells of a write to the storage. */
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode } from '#apiserver/storage/storage';
import type { TellEvent } from '#apiserver/request/request-span';

/** Tells when an object becomes its stored form, and what that is the end of. Upstream: apiserver/pkg/storage/etcd3/store.go. */
export function encodingTold(encode: Encode, tell: TellEvent, then?: string): Encode {
  return (revision) => {
    tell('About to Encode');
    const bytes = encode(revision);
    tell('Encode succeeded', [['len', bytes.length]]);
    if (then !== undefined) tell(then);
    return bytes;
  };
}

/** Tells that a transaction is done, or why it is not. */
export async function toldOf<T>(tell: TellEvent, done: string, written: Promise<T>): Promise<T> {
  try {
    const result = await written;
    tell(done);
    return result;
  } catch (error) {
    // Somebody else was faster: the transaction itself went well.
    if (error instanceof ConflictError || error instanceof KeyExistsError) tell(done);
    else tell('Txn call failed', [['err', (error as Error).message]]);
    throw error;
  }
}
