import { CompactedError, UnconvertibleEventError } from '../errors.ts';
import type { CommitFeed, Revision, Storage, StorageEvent } from '../storage.ts';
import { type Clock, systemClock } from '#apiserver/base/clock';

export interface FeedSubscriber {
  /** Ends with `/`. */
  readonly prefix: string;
  /** Called for each event once, ordered by revision. */
  onEvent(event: StorageEvent): void;
  /**
   * Called initially and after lost events: the subscriber must list. It receives every event after the revision of that
   * list.
   */
  onReset(): void;
}

const retryMs = 1_000;
/** Interval of progress requests. Upstream: apiserver/pkg/storage/cacher/progress/watch_progress.go. */
const progressMs = 100;

/**
 * The events of one storage for all caches: one subscription or watch, dispatched by key. Its revision is the one up to
 * which every subscriber has received all events.
 */
export abstract class Feed {
  readonly #subscribers = new Map<string, FeedSubscriber[]>();
  readonly #waiting = new Set<{ readonly revision: Revision; readonly resolve: (reached: boolean) => void }>();
  #count = 0;
  #revision: Revision = 0;

  /** True if the revision never lags behind the storage's, because the commits are the events. */
  abstract readonly isImmediate: boolean;
  /** True if the subscription or watch is active. */
  protected abstract readonly isStarted: boolean;

  get revision(): Revision {
    return this.#revision;
  }

  /** Adds a subscriber, calls its `onReset` now or later, and sends it the events after that. */
  subscribe(subscriber: FeedSubscriber): () => void {
    const segment = firstSegment(subscriber.prefix);
    const present = this.#subscribers.get(segment) ?? [];
    this.#subscribers.set(segment, [...present, subscriber]);
    if (this.#count++ === 0) this.start();
    if (this.isStarted) subscriber.onReset();
    let isSubscribed = true;
    return () => {
      if (!isSubscribed) return;
      isSubscribed = false;
      const left = this.#subscribers.get(segment)!.filter((other) => other !== subscriber);
      if (left.length > 0) this.#subscribers.set(segment, left);
      else this.#subscribers.delete(segment);
      if (--this.#count === 0) this.stop();
    };
  }

  /** Waits until the feed reaches the revision. Resolves to false after the timeout. */
  waitFor(revision: Revision, timeoutMs: number, clock: Clock): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const stopAsking = clock.every(progressMs, () => this.requestProgress());
      const waiter = {
        revision,
        resolve: (reached: boolean) => {
          this.#waiting.delete(waiter);
          stopTimer();
          stopAsking();
          resolve(reached);
        },
      };
      const stopTimer = clock.after(timeoutMs, () => waiter.resolve(false));
      this.#waiting.add(waiter);
      this.requestProgress();
    });
  }

  protected abstract start(): void;
  protected abstract stop(): void;
  protected abstract requestProgress(): void;

  protected dispatch(event: StorageEvent): void {
    if (event.revision > this.#revision) this.#revision = event.revision;
    const subscribers = this.#subscribers.get(firstSegment(event.key));
    if (subscribers) {
      for (const subscriber of subscribers) if (event.key.startsWith(subscriber.prefix)) subscriber.onEvent(event);
    }
  }

  /** Advances the revision after events were dispatched, or if there are none up to `revision`. */
  protected progress(revision: Revision): void {
    if (revision > this.#revision) this.#revision = revision;
    for (const waiter of this.#waiting) if (this.#revision >= waiter.revision) waiter.resolve(true);
  }

  protected reset(): void {
    for (const subscribers of [...this.#subscribers.values()]) for (const subscriber of subscribers) subscriber.onReset();
  }
}

/** Returns `/pods/` for `/pods/default/web-1`. */
function firstSegment(key: string): string {
  return key.slice(0, key.indexOf('/', 1) + 1);
}

class CommitEvents extends Feed {
  readonly isImmediate = true;
  protected readonly isStarted = true;
  readonly #storage: CommitFeed;
  #end: (() => void) | undefined;

  constructor(storage: CommitFeed) {
    super();
    this.#storage = storage;
  }

  protected start(): void {
    this.#end = this.#storage.onCommit((events) => {
      for (const event of events) this.dispatch(event);
      this.progress(events.at(-1)?.revision ?? 0);
    });
  }

  protected stop(): void {
    this.#end?.();
  }

  protected requestProgress(): void {}
}

class WatchedEvents extends Feed {
  readonly isImmediate = false;
  protected isStarted = false;
  readonly #storage: Storage;
  readonly #clock: Clock;
  #controller: AbortController | undefined;

  constructor(storage: Storage, clock: Clock) {
    super();
    this.#storage = storage;
    this.#clock = clock;
  }

  protected start(): void {
    this.#controller = new AbortController();
    void this.#run(this.#controller.signal);
  }

  protected stop(): void {
    this.#controller?.abort();
    this.isStarted = false;
  }

  protected requestProgress(): void {
    this.#storage.requestProgress?.().catch(() => {});
  }

  /**
   * Watches until the signal aborts. After a failure it resumes at its revision; if that was compacted, or the next event cannot be
   * converted twice, it resets the subscribers.
   */
  async #run(signal: AbortSignal): Promise<void> {
    let from: Revision | undefined;
    let unconvertible: Revision | undefined;
    while (!signal.aborted) {
      try {
        if (from === undefined) {
          from = await this.#storage.currentRevision();
          if (signal.aborted) return;
          this.progress(from);
          this.isStarted = true;
          this.reset();
        }
        for await (const event of this.#storage.watch('/', from, signal)) {
          if (signal.aborted) return;
          from = event.revision;
          if (event.type !== 'PROGRESS') this.dispatch(event);
          this.progress(event.revision);
        }
      } catch (error) {
        if (error instanceof CompactedError) {
          from = undefined;
          continue;
        }
        if (error instanceof UnconvertibleEventError) {
          // The object may be deleted meanwhile, so that only its events cannot be converted.
          if (error.revision === unconvertible) from = undefined;
          unconvertible = error.revision;
        }
      }
      if (!signal.aborted) await this.#pause(signal);
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(retryMs, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      const onAbort = (): void => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

const feeds = new WeakMap<object, Feed>();

/** Returns the shared feed of a storage. */
export function feedOf(storage: Storage & Partial<CommitFeed>, clock: Clock = systemClock): Feed {
  let feed = feeds.get(storage);
  if (!feed) {
    feed = storage.onCommit ? new CommitEvents(storage as Storage & CommitFeed) : new WatchedEvents(storage, clock);
    feeds.set(storage, feed);
  }
  return feed;
}
