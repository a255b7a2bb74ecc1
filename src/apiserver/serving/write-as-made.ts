import type { Buffer } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange, ResponseStream } from '#apiserver/request/exchange';
import { sliceBytes, slicesOfTurn } from './write-slices.ts';

/**
 * Writes a response whose pieces are produced as its client reads: the next one when nearly all bytes before are sent, and a
 * limited number of slices per event loop iteration. Stops if the client disconnects; aborts the response and rejects if a piece
 * fails.
 */
export async function writeAsMade(
  exchange: Pick<Exchange, 'closed' | 'onClose'>,
  stream: ResponseStream,
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  let go = (): void => undefined;
  stream.onDrain(() => go());
  exchange.onClose(() => go());
  let left = slicesOfTurn;
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += sliceBytes) {
        if (exchange.closed) return;
        const isTaken = new Promise<void>((resolve) => {
          go = resolve;
        });
        if (stream.write(piece.subarray(at, at + sliceBytes))) continue;
        await isTaken;
        left -= 1;
        if (left > 0) continue;
        left = slicesOfTurn;
        await nextTurn();
      }
      if (exchange.closed) return;
    }
    stream.end();
  } catch (error) {
    stream.abort();
    throw error;
  }
}
