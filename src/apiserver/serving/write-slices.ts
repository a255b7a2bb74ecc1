import type { Buffer } from 'node:buffer';

/**
 * Number of bytes written at once. It is below malloc's threshold for direct mappings (128 KiB, see bin/kubenest), each page of
 * which would be a page fault. Smaller slices need more event loop iterations.
 */
export const sliceBytes = 120 * 1024;

/**
 * Number of slices of one connection before it yields to the event loop. Bytes that the system accepts immediately complete in the
 * same iteration, followed by the next slice; without the limit, clients that read as fast as the server writes would block all
 * others until their responses end.
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
 * Writes buffers slice by slice, each after the previous one is sent: node:tls would join all pending buffers before encryption,
 * which takes longer than the encryption.
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

/** Yields the same bytes in slices: views of large buffers, or groups of small ones. */
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
