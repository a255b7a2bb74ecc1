import { Buffer } from 'node:buffer';

/** Less is not worth memory of its own: it is copied together with what stands beside it. */
const sharedFromBytes = 4_096;

let isShared = false;

/** From now on what is kept can be sent by other threads of the process without a copy. It cannot be taken back. */
export function shareKeptBytes(): void {
  isShared = true;
}

/** `Buffer.concat` for what is made once, sent often and never changed. */
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

/** The same of bytes that are nobody else's: without other threads they are kept as they are. */
export function kept(bytes: Buffer): Buffer {
  return isShared ? concatKept([bytes]) : bytes;
}

/** The memory of bytes that other threads can have without a copy; undefined of all others. */
export function sharedMemoryOf({ buffer }: Buffer): SharedArrayBuffer | undefined {
  return buffer instanceof SharedArrayBuffer ? buffer : undefined;
}
