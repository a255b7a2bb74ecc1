import { Buffer } from 'node:buffer';

/** Smaller buffers are not worth shared memory: they are copied together with adjacent ones. */
const sharedFromBytes = 4_096;

let isShared = false;

/** Allocates kept buffers in shared memory from now on, so that other threads can send them without a copy. It cannot be disabled. */
export function shareKeptBytes(): void {
  isShared = true;
}

/** Like `Buffer.concat`, for bytes that are created once, sent often and never changed. */
export function concatKept(parts: readonly Buffer[]): Buffer {
  if (!isShared) return Buffer.concat(parts);
  let length = 0;
  for (const part of parts) length += part.length;
  if (length < sharedFromBytes) return Buffer.concat(parts, length);
  const whole = Buffer.from(new SharedArrayBuffer(length));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

/** Like `concatKept` for bytes with a single owner: without other threads they are kept as they are. */
export function kept(bytes: Buffer): Buffer {
  return isShared ? concatKept([bytes]) : bytes;
}

/** Returns the shared memory of a buffer; undefined if it has none. */
export function sharedMemoryOf({ buffer }: Buffer): SharedArrayBuffer | undefined {
  return buffer instanceof SharedArrayBuffer ? buffer : undefined;
}
