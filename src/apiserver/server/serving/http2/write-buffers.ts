import { Buffer } from 'node:buffer';
import { sliceBytes } from '../write-slices.ts';

/** Smaller ones come from memory that node has at hand. */
const smallBytes = 16 * 1024;
/** A slice, and the heads of its frames and answers. */
const bufferBytes = sliceBytes + 4 * 1024;
const maxFree = 8;
const free: Buffer[] = [];

/**
 * Memory for at least `bytes` that are written next. That of large writes is used again: what a collection has to free first would be other
 * memory each time, which is in no cache of the processor.
 */
export function acquireBuffer(bytes: number): Buffer {
  if (bytes <= smallBytes) return Buffer.allocUnsafe(bytes);
  if (bytes > bufferBytes) return Buffer.allocUnsafeSlow(bytes);
  return free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
}

/** To be called once nobody reads `buffer` any more. */
export function releaseBuffer(buffer: Buffer): void {
  if (buffer.length === bufferBytes && free.length < maxFree) free.push(buffer);
}
