import type { Buffer } from 'node:buffer';
import type { Revision, StorageEvent, StorageRecord } from '#apiserver/storage/storage';
import { checkedRecord, checkedRevision, ContractError, objectOf } from './storage-contract.ts';

/** Number of own writes whose events are expected. */
const maxExpected = 10_000;

/** An own write whose event a watch has not sent. */
interface ExpectedEvent {
  readonly key: string;
  /** The encoded object; undefined for a deletion. */
  readonly bytes: Buffer | undefined;
  /** Time of the acknowledgement; undefined while the write is in progress, and therefore not yet expected. */
  readonly at: number | undefined;
}

/**
 * The events of own writes that a watch must send. Writes before the start of the last watch, or up to its last event, are not expected.
 */
export class ExpectedEvents {
  readonly #writes = new Map<Revision, ExpectedEvent>();
  /** Undefined: nothing is watched. */
  #sentTo: Revision | undefined;

  /** Begins with a watch from a revision. */
  follow(from: Revision): void {
    this.#writes.clear();
    this.#sentTo = from;
  }

  /** Notes a write in progress, whose event may precede its acknowledgement. */
  began(revision: Revision, key: string, bytes: Buffer): void {
    this.#set(revision, { key, bytes, at: undefined });
  }

  /** Expects the event of an acknowledged write, unless it was sent already. */
  acknowledged(revision: Revision, key: string, bytes: Buffer | undefined): void {
    this.#set(revision, { key, bytes, at: performance.now() });
  }

  /** Forgets a write that was not performed at this revision, or whose outcome is unknown. */
  forget(revision: Revision): void {
    this.#writes.delete(revision);
  }

  #set(revision: Revision, write: ExpectedEvent): void {
    if (this.#sentTo === undefined || revision <= this.#sentTo || this.#writes.size >= maxExpected) return;
    this.#writes.set(revision, write);
  }

  /** Throws a ContractError if an event or a progress notification arrives before an earlier one, or has another value than the write. */
  sent({ type, key, revision, record }: StorageEvent, prefix: string): void {
    this.#sentTo = revision;
    for (const [written, write] of this.#writes) {
      if (written > revision) continue;
      this.#writes.delete(written);
      if (type !== 'PROGRESS' && written === revision && write.key === key) {
        if (record && write.bytes && !record.value.equals(write.bytes))
          throw new ContractError(`sent another value of ${key} at revision ${revision} than was written`);
      } else if (write.at !== undefined && write.key.startsWith(prefix)) {
        throw new ContractError(`did not send the event of ${write.key} at revision ${written}`);
      }
    }
  }

  /** Rejects with a ContractError when an event is later than this. */
  late(milliseconds: number, until: AbortSignal): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setInterval(() => {
      const before = performance.now() - milliseconds;
      for (const [revision, { key, at }] of this.#writes)
        if (at !== undefined && at < before)
          reject(new ContractError(`did not send the event of ${key} at revision ${revision} within ${milliseconds} ms`));
    }, milliseconds).unref();
    until.addEventListener('abort', () => clearInterval(timer), { once: true });
    promise.catch(() => {});
    return promise;
  }
}

/** The order of the events of one watch. */
export class EventOrder {
  #last: Revision;
  /** Keys of the events at the last revision; a transaction may write several. */
  readonly #keys = new Set<string>();

  constructor(
    private readonly prefix: string,
    private readonly from: Revision,
  ) {
    this.#last = from;
  }

  /** Returns an event. Throws a ContractError for one that must not follow the earlier ones. */
  checked(found: unknown): StorageEvent {
    const event = objectOf(found) as Partial<StorageEvent>;
    const revision = checkedRevision(event.revision);
    const { type, key } = event;
    if (type === 'PROGRESS') {
      if (revision < this.#last) throw new ContractError(`sent progress ${revision} after revision ${this.#last}`);
      return { type, key: '', revision, record: undefined, previous: undefined };
    }
    if (type !== 'PUT' && type !== 'DELETE') throw new ContractError('sent an event of an unknown type');
    if (typeof key !== 'string' || !key.startsWith(this.prefix)) throw new ContractError(`sent an event outside of ${this.prefix}`);
    if (revision <= this.from || revision < this.#last) throw new ContractError(`sent revision ${revision} after revision ${this.#last}`);
    if (revision > this.#last) this.#keys.clear();
    if (this.#keys.has(key)) throw new ContractError(`sent the event of ${key} at revision ${revision} twice`);
    this.#keys.add(key);
    this.#last = revision;
    const record = type === 'PUT' ? checkedRecord(event.record, key, undefined) : undefined;
    if (record && record.revision !== revision)
      throw new ContractError(`sent revision ${record.revision} in an event of revision ${revision}`);
    return new CheckedEvent(type, key, revision, record, event);
  }
}

/** An event whose previous record is checked when it is read, because stores may read it only then. */
class CheckedEvent implements StorageEvent {
  constructor(
    readonly type: 'PUT' | 'DELETE',
    readonly key: string,
    readonly revision: Revision,
    readonly record: StorageRecord | undefined,
    private readonly sent: Partial<StorageEvent>,
  ) {}

  get previous(): StorageRecord | undefined {
    const { previous } = this.sent;
    return previous === undefined ? undefined : checkedRecord(previous, this.key, this.revision - 1);
  }
}
