import type { Revision } from 'kubenest/sdk';

export interface Expiry {
  /** By the monotonic clock, in milliseconds. */
  readonly at: number;
  readonly key: string;
  /** The write that set it; if the key has a newer one, it is void. */
  readonly revision: Revision;
}

/** A binary heap: the next to expire is first. */
export class ExpiryQueue {
  readonly #heap: Expiry[] = [];

  get next(): Expiry | undefined {
    return this.#heap[0];
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
