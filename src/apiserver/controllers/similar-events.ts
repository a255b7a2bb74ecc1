import type { Clock } from '#apiserver/base/clock';
import type { EventType, ObjectReference, StoredEvent } from './event-form.ts';

/** Similar events of an object within the window before they are combined. Upstream: client-go/tools/record/events_cache.go. */
const combineAfter = 10;
const combineWindowMs = 600_000;
/** Events about one object: this many at once, then one every five minutes. */
const burst = 25;
const refillMs = 300_000;
const maxKept = 4_096;

/** The record of equal events. */
export interface EventRecord {
  /** Number of equal events so far. */
  count: number;
  /** Time of the first, in milliseconds since 1970. */
  readonly firstMs: number;
  /** The object that counts them, once it is written. */
  stored?: StoredEvent | undefined;
}

export interface ObservedEvent {
  readonly record: EventRecord;
  readonly message: string;
}

interface Group {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Counts equal events, combines events that differ only in their message, and limits the events of each object. Upstream: EventCorrelator
 * of client-go/tools/record.
 */
export class SimilarEvents {
  readonly #events = new RecentMap<EventRecord>();
  readonly #groups = new RecentMap<Group>();
  readonly #buckets = new RecentMap<Bucket>();

  constructor(readonly clock: Clock) {}

  /**
   * Counts an event. Returns undefined if the object has too many events. `version`: events with another one are not equal; those of
   * events.k8s.io are about one state of an object (client-go/tools/events).
   */
  observe(object: ObjectReference, type: EventType, reason: string, message: string, version = ''): ObservedEvent | undefined {
    const now = this.clock.wallTime();
    const objectKey = [object.kind, object.namespace, object.name, object.uid, object.apiVersion, object.fieldPath].join('\0');
    const groupKey = `${objectKey}\0${type}\0${reason}`;
    const group = this.#groups.get(groupKey);
    const isNew = !group || now - group.lastMs > combineWindowMs;
    const { messages } = isNew ? { messages: new Set<string>() } : group;
    messages.add(message);
    this.#groups.set(groupKey, { messages, lastMs: now });
    const isCombined = messages.size >= combineAfter;
    if (isCombined) messages.delete(messages.values().next().value as string);
    const key = isCombined ? groupKey : `${groupKey}\0${message}\0${version}`;
    const record = this.#events.get(key) ?? { count: 0, firstMs: now };
    record.count += 1;
    this.#events.set(key, record);
    if (!this.#mayRecord(objectKey)) return undefined;
    return { record, message: isCombined ? `(combined from similar events): ${message}` : message };
  }

  #mayRecord(object: string): boolean {
    const now = this.clock.now();
    const bucket = this.#buckets.get(object) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
    const isAllowed = tokens >= 1;
    this.#buckets.set(object, { tokens: isAllowed ? tokens - 1 : tokens, at: now });
    return isAllowed;
  }
}

/** A map that forgets the entries that were set longest ago. */
class RecentMap<T> {
  readonly #entries = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > maxKept) this.#entries.delete(this.#entries.keys().next().value as string);
  }
}
