let dropped = 0;

/** Memory was let go of that only a collection of garbage gives back. */
export function noteDropped(bytes: number): void {
  dropped += bytes;
}

/** All of it since the start of the process: its growth is what a collection would find. */
export function bytesDropped(): number {
  return dropped;
}
