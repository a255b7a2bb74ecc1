import { Buffer } from 'node:buffer';
import { sliceBytes } from '../write-slices.ts';

/** Free buffers of one size. */
interface Shelf {
  readonly bytes: number;
  readonly free: Buffer[];
}

/**
 * Buffers by size, the largest for a slice with its frame headers and response heads. The total size of each list of free buffers
 * is limited.
 */
const shelves: readonly Shelf[] = [4 * 1024, 16 * 1024, 48 * 1024, sliceBytes + 4 * 1024].map((bytes) => ({ bytes, free: [] }));
const maxFreeBytes = 4 * 1024 * 1024;
/** Smaller buffers come from Node's pool. */
const smallBytes = 1024;

/**
 * Returns a reused buffer of at least `bytes` for a write. New memory for each write would not be in the processor's cache, and V8,
 * which counts it, would collect the whole heap for a hundred events to a thousand watchers.
 */
export function acquireBuffer(bytes: number): Buffer {
  if (bytes <= smallBytes) return Buffer.allocUnsafe(bytes);
  const shelf = shelves.find((each) => bytes <= each.bytes);
  if (!shelf) return Buffer.allocUnsafeSlow(bytes);
  return shelf.free.pop() ?? Buffer.allocUnsafeSlow(shelf.bytes);
}

/** Returns a buffer for reuse. Call it once nothing reads the buffer. */
export function releaseBuffer(buffer: Buffer): void {
  const shelf = shelves.find((each) => buffer.length === each.bytes);
  if (shelf && (shelf.free.length + 1) * shelf.bytes <= maxFreeBytes) shelf.free.push(buffer);
}
