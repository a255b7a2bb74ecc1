import type { Revision } from '../storage.ts';
import type { Clock } from '#apiserver/base/clock';
import { BookmarkEvent } from './watch-event.ts';
import type { WatchGroups } from './watch-groups.ts';
import type { Watcher } from './watcher.ts';

/** Time before the end of a watch at which it gets a bookmark. Upstream: cacher.go (bookmarkFrequency before the deadline). */
const bookmarkBeforeDeadlineMs = 2_000;

export interface WatchTimerOptions {
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly random: () => number;
  /** Approximate interval of bookmarks. */
  readonly bookmarkMs: number;
  readonly watchers: WatchGroups;
  /** Returns the revision up to which every live watcher has received all events. */
  readonly revision: () => Revision;
}

/** Checks the watchers once a second while there are any: sends due bookmarks and closes slow clients. */
export class WatchTimer {
  readonly #options: WatchTimerOptions;
  readonly #deadlines = new WeakMap<Watcher, number>();
  #stop: (() => void) | undefined;
  #lastBookmark: BookmarkEvent | undefined;

  constructor(options: WatchTimerOptions) {
    this.#options = options;
  }

  /** Registers a watcher. `deadline` is the time of its last bookmark by the clock. */
  added(watcher: Watcher, deadline: number | undefined): void {
    if (deadline !== undefined) this.#deadlines.set(watcher, deadline);
    this.#stop ??= this.#options.clock.every(1_000, () => this.#tick());
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Returns the time of the next bookmark: within a minute, or two seconds before the deadline; Infinity after that. */
  nextBookmark(deadline: number | undefined): number {
    const { clock, random, bookmarkMs } = this.#options;
    const now = clock.now();
    const regular = now + bookmarkMs * (1 - 0.1 * random());
    if (deadline === undefined) return regular;
    const last = deadline - bookmarkBeforeDeadlineMs;
    return last <= now ? Infinity : Math.min(regular, last);
  }

  #tick(): void {
    const { clock, watchers } = this.#options;
    if (watchers.size === 0) return this.stop();
    const now = clock.now();
    for (const watcher of [...watchers]) {
      watcher.checkSlow(now);
      if (watcher.bookmarkAt > now || !watcher.isLive) continue;
      watcher.bookmarkAt = this.nextBookmark(this.#deadlines.get(watcher));
      watcher.send(this.#bookmark());
    }
  }

  /** Returns the bookmark of the current revision, shared by all watchers. */
  #bookmark(): BookmarkEvent {
    const revision = this.#options.revision();
    if (this.#lastBookmark?.revision !== revision) this.#lastBookmark = new BookmarkEvent(revision, false);
    return this.#lastBookmark;
  }
}
