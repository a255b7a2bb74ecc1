import type { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompactedError, ConflictError, StorageError, UnavailableError, UnknownOutcomeError } from '#apiserver/storage/errors';
import type {
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from '#apiserver/storage/storage';
import type { Guarded } from './guard-access.ts';
import { type PluginFailures, type PluginName, pluginSubject } from './plugin-failures.ts';
import { type RunPlugin, runnerOf } from './plugin-origin.ts';
import { checkedCount, checkedList, checkedRecord, checkedRevision, ContractError, objectOf } from './storage-contract.ts';
import { EventOrder, ExpectedEvents } from './storage-events.ts';
import { TimeoutError, within } from './within.ts';

/** The server cannot encode an object; the store is not at fault. */
class EncodeError extends Error {}

const required = [
  'currentRevision',
  'get',
  'list',
  'create',
  'update',
  'delete',
  'watch',
  'compact',
  'compactRevision',
  'healthy',
  'close',
] as const;
/** Time between a broken watch and the next one, in which the caches list again. */
const pauseMs = 1_000;
/** An event this far above all known revisions is compared with the store's current revision. */
const largestStep = 1_000;

/**
 * The store of a package behind checks, so that its faults fail single requests, and neither the caches nor the answers have what it should
 * not have returned.
 *
 * | fault                                                    | effect                                                            |
 * | -------------------------------------------------------- | ----------------------------------------------------------------- |
 * | a read that throws, is late or returns a wrong value     | UnavailableError                                                  |
 * | a write that throws, is late or returns a wrong value    | UnknownOutcomeError: the store may have performed it              |
 * | a watch that throws or ends                              | it is resumed                                                     |
 * | a watch whose events are wrong, repeated or out of order | CompactedError after a pause: the caches list again               |
 * | a watch that leaves out a write of this server           | the same, also if it sends nothing more within the timeout        |
 *
 * A StorageError of the contract is passed on. A package's claim to verify its values is not believed, so that bytes of another kind are
 * found when they are read; its commit feed is not used, because there is no way back after a wrong event.
 */
export class GuardedStorage implements Storage {
  readonly size?: () => Promise<number>;
  readonly raiseRevision?: (revision: Revision) => Promise<void>;
  readonly requestProgress?: () => Promise<void>;
  readonly #run: RunPlugin;
  readonly #plugin: PluginName;
  readonly #timeoutMs: number;
  /** Highest revision that the store has acknowledged. */
  #highest: Revision = 0;
  #isClosing = false;
  readonly #expected = new ExpectedEvents();

  private constructor(
    private readonly storage: Storage,
    { described, guard, origin }: Guarded,
    private readonly failures: PluginFailures,
  ) {
    this.#run = runnerOf(origin);
    this.#plugin = nameOf({ described, origin });
    this.#timeoutMs = guard.timeoutMs;
    if (storage.size) this.size = () => this.#read('size', () => storage.size?.(), checkedCount);
    if (storage.raiseRevision)
      this.raiseRevision = (revision) => this.#write('raiseRevision', () => storage.raiseRevision?.(revision), nothing);
    if (storage.requestProgress) this.requestProgress = () => this.#read('requestProgress', () => storage.requestProgress?.(), nothing);
  }

  /** Opens the store of a package. Rejects with an Error that names the package. */
  static async open(open: () => unknown, contribution: Guarded, failures: PluginFailures): Promise<GuardedStorage> {
    const { guard, origin } = contribution;
    const subject = pluginSubject(nameOf(contribution));
    let storage: unknown;
    try {
      storage = await within(Promise.resolve(runnerOf(origin)(open)), guard.startTimeoutMs);
    } catch (error) {
      throw new Error(`${subject} cannot be opened: ${messageOf(error)}`, { cause: error });
    }
    const missing = required.filter((method) => typeof (storage as Partial<Storage> | undefined)?.[method] !== 'function');
    if (missing.length > 0) throw new Error(`${subject}: open returned no store: ${missing.join(', ')} must be functions`);
    return new GuardedStorage(storage as Storage, contribution, failures);
  }

  async currentRevision(): Promise<Revision> {
    const known = this.#highest;
    const revision = await this.#read('currentRevision', () => this.storage.currentRevision(), checkedRevision);
    return this.#reached(revision, known, 'currentRevision');
  }

  get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    return this.#read(
      'get',
      () => this.storage.get(key, options),
      (found) => (found === undefined ? undefined : checkedRecord(found, key, options?.revision)),
    );
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    const known = this.#highest;
    const result = await this.#read(
      'list',
      () => this.storage.list(prefix, options),
      (found) => checkedList(found, prefix, options),
    );
    if (options.revision === undefined) this.#reached(result.revision, known, 'list');
    return result;
  }

  create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#put('create', key, 0, encode, (checked) => this.storage.create(key, checked, options));
  }

  update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#put('update', key, expected, encode, (checked) => this.storage.update(key, expected, checked, options));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    const known = this.#highest;
    return this.#write(
      'delete',
      () => this.storage.delete(key, expected),
      (found) => {
        const { record, revision } = objectOf(found);
        const checked = checkedRecord(record, key, undefined);
        if (checked.revision !== expected) throw new ContractError(`deleted revision ${checked.revision} instead of ${expected}`);
        const deleted = this.#advanced(checkedRevision(revision), known);
        this.#expected.acknowledged(deleted, key, undefined);
        return { record: checked, revision: deleted };
      },
    );
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncGenerator<StorageEvent, void> {
    const order = new EventOrder(prefix, from);
    const ended = new AbortController();
    const aborted = abortOf(signal, ended.signal);
    this.#expected.follow(from);
    const late = this.#expected.late(this.#timeoutMs, ended.signal);
    let events: AsyncIterator<unknown> | undefined;
    try {
      events = this.#run(() => (this.storage.watch(prefix, from, signal) as AsyncIterable<unknown>)[Symbol.asyncIterator]());
      for (;;) {
        const next = await Promise.race([aborted, late, this.#run(() => (events as AsyncIterator<unknown>).next())]);
        if (next === undefined) return;
        if (next.done) break;
        const event = order.checked(next.value);
        await this.#assertReached(event.revision);
        this.#expected.sent(event, prefix);
        yield event;
      }
      if (!signal.aborted && !this.#isClosing) throw new UnavailableError(`${pluginSubject(this.#plugin)} ended a watch`);
    } catch (error) {
      if (signal.aborted || this.#isClosing) return;
      if (error instanceof CompactedError) throw error;
      this.failures.record(this.#plugin, ruleOf(error), error, { method: 'watch', prefix });
      if (!(error instanceof ContractError)) throw error;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      // Events may be lost, so that the watcher must list.
      throw new CompactedError(from, from);
    } finally {
      ended.abort();
      // A generator that never yields again does not end either.
      void Promise.resolve(events?.return?.()).catch(() => {});
    }
  }

  needsRewrite(key: string): boolean {
    try {
      return this.#run(() => this.storage.needsRewrite?.(key)) === true;
    } catch (error) {
      this.failures.record(this.#plugin, ruleOf(error), error, { method: 'needsRewrite' });
      return false;
    }
  }

  compact(revision: Revision): Promise<void> {
    return this.#read('compact', () => this.storage.compact(revision), nothing);
  }

  compactRevision(): Promise<Revision> {
    return this.#read('compactRevision', () => this.storage.compactRevision(), checkedCount);
  }

  healthy(timeoutMs?: number): Promise<void> {
    return this.#read('healthy', () => this.storage.healthy(timeoutMs), nothing);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    try {
      await within(Promise.resolve(this.#run(() => this.storage.close())), this.#timeoutMs);
    } catch (error) {
      this.failures.record(this.#plugin, ruleOf(error), error, { method: 'close' });
    }
  }

  #read<T>(method: string, work: () => unknown, check: (found: unknown) => T): Promise<T> {
    return this.#call(method, work, check, (message, cause) => new UnavailableError(message, { cause }));
  }

  #write<T>(method: string, work: () => unknown, check: (found: unknown) => T): Promise<T> {
    return this.#call(method, work, check, (message, cause) => new UnknownOutcomeError(message, { cause }));
  }

  /** Calls the store. Faults are recorded and rejected as `failed` makes them; errors of the contract are passed on. */
  async #call<T>(
    method: string,
    work: () => unknown,
    check: (found: unknown) => T,
    failed: (message: string, cause: unknown) => StorageError,
  ): Promise<T> {
    try {
      return check(await within(Promise.resolve(this.#run(work)), this.#timeoutMs));
    } catch (error) {
      if (error instanceof EncodeError) throw error.cause;
      if (error instanceof StorageError && !isWrongConflict(error)) throw error;
      this.failures.record(this.#plugin, ruleOf(error), error, { method });
      throw failed(`${pluginSubject(this.#plugin)}: ${method} ${predicateOf(error)}`, error);
    }
  }

  /** Calls a write that encodes an object, and compares the returned record with the encoded object. */
  async #put(method: string, key: string, expected: Revision, encode: Encode, put: (encode: Encode) => unknown): Promise<StorageRecord> {
    const known = Math.max(this.#highest, expected);
    const encoded = new Map<Revision, Buffer>();
    let isOver = false;
    let written: Revision | undefined;
    const checked: Encode = (revision) => {
      if (isOver) throw new ContractError('encoded an object after the write had ended');
      const bytes = encodedBy(encode, checkedRevision(revision));
      encoded.set(revision, bytes);
      this.#expected.began(revision, key, bytes);
      return bytes;
    };
    try {
      return await this.#write(
        method,
        () => put(checked),
        (found) => {
          const record = checkedRecord(found, key, undefined);
          const bytes = encoded.get(record.revision);
          if (!bytes) throw new ContractError(`returned revision ${record.revision}, for which it encoded no object`);
          if (record.value !== bytes && !record.value.equals(bytes)) throw new ContractError('returned another value than it was given');
          written = this.#advanced(record.revision, known);
          this.#expected.acknowledged(written, key, bytes);
          return record;
        },
      );
    } finally {
      isOver = true;
      for (const revision of encoded.keys()) if (revision !== written) this.#expected.forget(revision);
    }
  }

  /** Returns the revision of a write. Throws unless it is above those that were known when the write began. */
  #advanced(revision: Revision, known: Revision): Revision {
    if (revision <= known) throw new ContractError(`wrote at revision ${revision}, although revision ${known} existed`);
    if (revision > this.#highest) this.#highest = revision;
    return revision;
  }

  /** Returns the revision of a read. Throws if it is below one that was known when the read began. */
  #reached(revision: Revision, known: Revision, method: string): Revision {
    if (revision < known) {
      const error = new ContractError(`returned revision ${revision}, although revision ${known} existed`);
      this.failures.record(this.#plugin, ruleOf(error), error, { method });
      throw new UnavailableError(`${pluginSubject(this.#plugin)}: ${method} ${error.message}`);
    }
    if (revision > this.#highest) this.#highest = revision;
    return revision;
  }

  /** Throws a ContractError if the revision of an event is far above the store's. */
  async #assertReached(revision: Revision): Promise<void> {
    if (revision <= this.#highest + largestStep) return;
    const current = await this.currentRevision();
    if (revision > current) throw new ContractError(`sent an event of revision ${revision}, although the newest is ${current}`);
  }
}

function encodedBy(encode: Encode, revision: Revision): Buffer {
  try {
    return encode(revision);
  } catch (error) {
    throw new EncodeError(messageOf(error), { cause: error });
  }
}

function nameOf({ described, origin }: Pick<Guarded, 'described' | 'origin'>): PluginName {
  return { sort: 'storage backend', name: described.options.name, package: origin?.package };
}

function nothing(): void {}

/** True for a ConflictError whose record is not one. */
function isWrongConflict(error: StorageError): boolean {
  if (!(error instanceof ConflictError) || error.current === undefined) return false;
  try {
    checkedRecord(error.current, error.key, undefined);
    return false;
  } catch {
    return true;
  }
}

function ruleOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'timeout';
  return error instanceof ContractError ? 'contract' : 'error';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Completes a sentence about the store. Other errors may contain what clients must not see, so only the log has them. */
function predicateOf(error: unknown): string {
  if (error instanceof ContractError) return error.message;
  return error instanceof TimeoutError ? `gave ${error.message}` : 'failed';
}

/** Resolves when the signal aborts. */
function abortOf(signal: AbortSignal, until: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: until });
  return promise;
}
