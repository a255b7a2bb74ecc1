import type { Revision } from '../storage.ts';
import { type CachedObject, tidyMemory } from './cached-object.ts';

/** A change of one object as applied by the cache. */
export interface CacheEvent {
  readonly key: string;
  readonly revision: Revision;
  /** The new state; undefined if the object was deleted. */
  readonly object: CachedObject | undefined;
  /** The previous state; undefined if the object was created. */
  readonly previous: CachedObject | undefined;
  /** Time of the change by the clock of the cache. */
  readonly at: number;
}

/** Bounds of the number of events in a history. Upstream: apiserver/pkg/storage/cacher/watch_cache.go. */
export const minHistory = 100;
export const maxHistory = 102_400;
/** Memory limit for events and past states that are no longer fresh. */
const oldBytes = 4 * 1024 * 1024;
/** Approximate size of an event without its previous state. */
const eventBytes = 100;

/**
 * Ring buffer of the latest events, ordered by revision. It retains at least the events of the last `freshMs` (up to
 * `maxHistory` events): its capacity doubles when it is full of fresh events and halves when three quarters of it are old.
 * Upstream keeps old events until others replace them; here `trim` also drops old events that take much memory.
 */
export class EventHistory {
  readonly #freshMs: number;
  #events: (CacheEvent | undefined)[];
  #start = 0;
  #size = 0;
  /** Size of the events and their previous states. */
  #bytes = 0;
  /** All events after this revision are present. */
  #completeAfter: Revision;

  /** `revision` is the revision of the initial list. */
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

  /** Oldest revision after which no event is missing. */
  get completeAfter(): Revision {
    return this.#completeAfter;
  }

  /** Returns event `i`, from 0 (the oldest) to `size` - 1. */
  at(i: number): CacheEvent {
    return this.#events[(this.#start + i) % this.#events.length]!;
  }

  /** True if the size exceeds the limit for old events, so that `trim` should be called when they are old. */
  get isLarge(): boolean {
    return this.#bytes > oldBytes;
  }

  add(event: CacheEvent): void {
    this.#resize(event.at);
    if (this.#size === this.#events.length) {
      this.#dropOldest();
      tidyMemory();
    }
    this.#events[(this.#start + this.#size) % this.#events.length] = event;
    this.#size++;
    this.#bytes += sizeOf(event);
  }

  /** Drops old events, the oldest first, until their size is within the limit. */
  trim(now: number): void {
    while (this.isLarge && this.#size > minHistory && now - this.at(0).at >= this.#freshMs) this.#dropOldest();
    let capacity = this.#events.length;
    while (capacity > minHistory && this.#size <= capacity / 4) capacity /= 2;
    this.#setCapacity(capacity);
  }

  /** Drops all events. */
  clear(): void {
    for (let i = 0; i < this.#size; i++) this.at(i).previous?.retire();
    this.#size = 0;
    this.#bytes = 0;
  }

  /** Returns the index of the first event after the revision; `size` if there is none. */
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

  /** Drops the oldest event and releases its previous state. */
  #dropOldest(): void {
    const event = this.at(0);
    this.#completeAfter = event.revision;
    this.#bytes -= sizeOf(event);
    event.previous?.retire();
    this.#events[this.#start] = undefined;
    this.#start = (this.#start + 1) % this.#events.length;
    this.#size--;
  }
}

function sizeOf(event: CacheEvent): number {
  return eventBytes + (event.previous?.size ?? 0);
}
