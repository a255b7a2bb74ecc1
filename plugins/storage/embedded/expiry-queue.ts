import type { Revision } from 'kubenest/sdk';

export interface Expiry {
  /** Monotonic time in milliseconds. */
  readonly at: number;
  readonly key: string;
  /** Revision of the write that set the expiry, which is void if the key has a newer one. */
  readonly revision: Revision;
}

/** A binary heap with the next expiry first. */
export class ExpiryQueue {
  #heap: Expiry[] = [];
  #pruneAt = 10_000;

  get next(): Expiry | undefined {
    return this.#heap[0];
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Drops void entries if there are enough entries to make it worthwhile: repeatedly written keys leave many. */
  prune(isValid: (expiry: Expiry) => boolean): void {
    if (this.#heap.length < this.#pruneAt) return;
    // A sorted array is a valid heap.
    this.#heap = this.#heap.filter(isValid).sort((a, b) => a.at - b.at);
    this.#pruneAt = Math.max(10_000, this.#heap.length * 2);
  }

  push(expiry: Expiry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(expiry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (heap[parent]!.at <= expiry.at) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = expiry;
  }

  pop(): Expiry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (heap[child]!.at >= last.at) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}
