let dropped = 0;

/** Records the release of memory that only garbage collection reclaims. */
export function noteDropped(bytes: number): void {
  dropped += bytes;
}

/** Returns the bytes recorded since the start of the process. Its growth is what a collection would reclaim. */
export function bytesDropped(): number {
  return dropped;
}
