import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitFeed, Encode, Revision, Storage, StorageEvent, StorageRecord } from '#apiserver/storage/storage';

/** A store for the cases of the contract. */
export interface ConformanceStore {
  /** The store under test, without records. */
  readonly storage: Storage & Partial<CommitFeed>;
  /** Closes the storage and opens it again with its persisted data; undefined for a storage that persists nothing. */
  readonly reopen?: (() => Promise<Storage & Partial<CommitFeed>>) | undefined;
  readonly cleanup: () => Promise<void>;
}

/** The store of the case that runs now. */
export class TestedStore {
  #store: ConformanceStore | undefined;
  #storage: ConformanceStore['storage'] | undefined;
  readonly #ends: AbortController[] = [];

  get storage(): Storage & Partial<CommitFeed> {
    if (!this.#storage) throw new Error('no case runs');
    return this.#storage;
  }

  /** False for a storage that persists nothing. */
  get canReopen(): boolean {
    return this.#store?.reopen !== undefined;
  }

  begin(store: ConformanceStore): void {
    this.#store = store;
    this.#storage = store.storage;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end.abort();
    await this.#store?.cleanup();
    this.#store = undefined;
    this.#storage = undefined;
  }

  async reopen(): Promise<void> {
    this.#storage = await this.#store?.reopen?.();
  }

  /** Starts a watch that ends with the case. */
  watch(prefix: string, from: Revision): AsyncIterator<StorageEvent> {
    const end = new AbortController();
    this.#ends.push(end);
    return this.storage.watch(prefix, from, end.signal)[Symbol.asyncIterator]();
  }
}

/** Returns an encoder that always returns the text. */
export function text(value: string): Encode {
  return () => Buffer.from(value);
}

/** Returns the members of a record with its value as text. */
export function plain(record: StorageRecord | undefined): unknown {
  return record && { key: record.key, revision: record.revision, createRevision: record.createRevision, value: record.value.toString() };
}

/** Formats an event as `PUT /pods/a new after old`. */
export function describeEvent({ type, key, record, previous }: StorageEvent): string {
  return `${type} ${key}${record ? ` ${record.value.toString()}` : ''}${previous ? ` after ${previous.value.toString()}` : ''}`;
}

/** Returns the next events of a watch, without those of progress. */
export async function take(events: AsyncIterator<StorageEvent>, count: number): Promise<StorageEvent[]> {
  const taken: StorageEvent[] = [];
  while (taken.length < count) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the watch ended after ${taken.length} of ${count} events`);
    if (value.type !== 'PROGRESS') taken.push(value);
  }
  return taken;
}

/** Waits until the condition is true, at most 10 s. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await condition()); ) {
    if (performance.now() > end) throw new Error('the condition did not become true within 10 s');
    await sleep(20);
  }
}
