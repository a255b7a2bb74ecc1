import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';

/** One change of one object, as the cache applied it. */
export interface CacheEvent {
  readonly key: string;
  readonly revision: Revision;
  /** undefined: it was deleted. */
  readonly object: CachedObject | undefined;
  /** undefined: it was created. */
  readonly previous: CachedObject | undefined;
  /** When it was applied, by the clock of the cache. */
  readonly at: number;
}

/** Upstream: apiserver/pkg/storage/cacher/watch_cache.go. */
export const minHistory = 100;
export const maxHistory = 102_400;

/**
 * The latest events, in order of revision. It holds at least what came in the last `freshMs` (up to `maxHistory` events):
 * its capacity doubles when it is full of fresh events, and halves when three quarters of it are not.
 */
export class EventHistory {
  readonly #freshMs: number;
  #events: (CacheEvent | undefined)[];
  #start = 0;
  #size = 0;
  /** Events after this revision are all here. */
  #completeAfter: Revision;

  /** `revision`: that of the list with which the cache began. */
  constructor(revision: Revision, freshMs: number) {
    this.#freshMs = freshMs;
    this.#completeAfter = revision;
    this.#events = new Array<CacheEvent | undefined>(minHistory).fill(undefined);
  }

  get capacity(): number {
    return this.#events.length;
  }

  get size(): number {
    return this.#size;
  }

  /** The oldest revision after which nothing is missing. */
  get completeAfter(): Revision {
    return this.#completeAfter;
  }

  /** `i` from 0 (the oldest) to `size` - 1. */
  at(i: number): CacheEvent {
    return this.#events[(this.#start + i) % this.#events.length]!;
  }

  add(event: CacheEvent): void {
    this.#resize(event.at);
    if (this.#size === this.#events.length) this.#dropOldest();
    this.#events[(this.#start + this.#size) % this.#events.length] = event;
    this.#size++;
  }

  /** The index of the first event after the revision; `size` if there is none. */
  indexAfter(revision: Revision): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle).revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #resize(now: number): void {
    const capacity = this.#events.length;
    if (this.#size < capacity) return;
    if (now - this.at(0).at < this.#freshMs) this.#setCapacity(Math.min(capacity * 2, maxHistory));
    else if (now - this.at(capacity - Math.floor(capacity / 4)).at > this.#freshMs)
      this.#setCapacity(Math.max(Math.floor(capacity / 2), minHistory));
  }

  #setCapacity(capacity: number): void {
    if (capacity === this.#events.length) return;
    while (this.#size > capacity) this.#dropOldest();
    const events = new Array<CacheEvent | undefined>(capacity).fill(undefined);
    for (let i = 0; i < this.#size; i++) events[i] = this.at(i);
    this.#events = events;
    this.#start = 0;
  }

  /** What was before its event, nobody is shown any more. */
  #dropOldest(): void {
    const { revision, previous } = this.at(0);
    this.#completeAfter = revision;
    previous?.forget();
    this.#events[this.#start] = undefined;
    this.#start = (this.#start + 1) % this.#events.length;
    this.#size--;
  }
}
