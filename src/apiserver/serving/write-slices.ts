import type { Buffer } from 'node:buffer';

/**
 * What is written at once. Less than what malloc takes from the system by itself and gives back right after (128 KiB, see bin/kubenest):
 * each page of that would be a fault. Smaller slices take more turns of the event loop.
 */
export const sliceBytes = 120 * 1024;

/**
 * So many slices leave of one connection, then others have their turn. What the system takes at once is told in the same turn of the event loop, and
 * with it the next slice leaves: clients that read as fast as they are written to would have the server for themselves until their answers end.
 */
export const slicesOfTurn = 4;

interface SliceTarget {
  cork(): void;
  uncork(): void;
  write(bytes: Buffer, taken?: () => void): unknown;
  end(): unknown;
  readonly destroyed: boolean;
}

/**
 * Writes pieces, each slice once the one before has left: node:tls copies what waits together into one buffer before it encrypts it,
 * which takes longer than the encryption does.
 */
export function writeSlices(target: SliceTarget, pieces: Iterable<Buffer>): void {
  const slices = slicesOf(pieces);
  let next = slices.next();
  let left = slicesOfTurn;
  const go = (): void => {
    if (left > 0) return write();
    left = slicesOfTurn;
    setImmediate(write);
  };
  const write = (): void => {
    if (target.destroyed) return;
    left -= 1;
    const slice = next.value ?? [];
    next = slices.next();
    target.cork();
    for (const [i, bytes] of slice.entries()) target.write(bytes, i === slice.length - 1 && !next.done ? go : undefined);
    if (next.done) target.end();
    target.uncork();
  };
  write();
}

/** The same bytes in slices: a view of a large piece, or small ones that stand side by side. */
export function* slicesOf(pieces: Iterable<Buffer>): Generator<Buffer[], void> {
  let small: Buffer[] = [];
  let smallBytes = 0;
  for (const piece of pieces) {
    let rest = piece;
    if (smallBytes + piece.length > sliceBytes) {
      if (smallBytes > 0) yield small;
      small = [];
      smallBytes = 0;
      for (; rest.length > sliceBytes; rest = rest.subarray(sliceBytes)) yield [rest.subarray(0, sliceBytes)];
    }
    small.push(rest);
    smallBytes += rest.length;
  }
  if (smallBytes > 0) yield small;
}
