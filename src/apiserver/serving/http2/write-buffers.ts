import { Buffer } from 'node:buffer';
import { sliceBytes } from '../write-slices.ts';

/** Buffers of one size that nobody uses. */
interface Shelf {
  readonly bytes: number;
  readonly free: Buffer[];
}

/** The largest: a slice, and the heads of its frames and answers. Each is kept up to so many bytes in all. */
const shelves: readonly Shelf[] = [4 * 1024, 16 * 1024, 48 * 1024, sliceBytes + 4 * 1024].map((bytes) => ({ bytes, free: [] }));
const maxFreeBytes = 4 * 1024 * 1024;
/** Smaller ones come from memory that node has at hand. */
const smallBytes = 1024;

/**
 * Memory for at least `bytes` that are written next, to be used again: what a collection has to free first would be other memory each
 * time, which is in no cache of the processor, and V8, which counts it, would collect all of its heap for a hundred events to a thousand watchers.
 */
export function acquireBuffer(bytes: number): Buffer {
  if (bytes <= smallBytes) return Buffer.allocUnsafe(bytes);
  const shelf = shelves.find((each) => bytes <= each.bytes);
  if (!shelf) return Buffer.allocUnsafeSlow(bytes);
  return shelf.free.pop() ?? Buffer.allocUnsafeSlow(shelf.bytes);
}

/** To be called once nobody reads `buffer` any more. */
export function releaseBuffer(buffer: Buffer): void {
  const shelf = shelves.find((each) => buffer.length === each.bytes);
  if (shelf && (shelf.free.length + 1) * shelf.bytes <= maxFreeBytes) shelf.free.push(buffer);
}
