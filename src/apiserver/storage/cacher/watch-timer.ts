import type { Revision } from '../storage.ts';
import type { Clock } from '#apiserver/base/clock';
import { BookmarkEvent } from './watch-event.ts';
import type { WatchGroups } from './watch-groups.ts';
import type { Watcher } from './watcher.ts';

/** Upstream: cacher.go (bookmarkFrequency before the deadline). */
const bookmarkBeforeDeadlineMs = 2_000;

export interface WatchTimerOptions {
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  /** How often a watch with bookmarks gets one, about. */
  readonly bookmarkMs: number;
  readonly watchers: WatchGroups;
  /** Every live watcher has got all events up to it. */
  readonly revision: () => Revision;
}

/** Looks at the watchers once a second while there are some: bookmarks that are due, and clients that take nothing. */
export class WatchTimer {
  readonly #options: WatchTimerOptions;
  readonly #deadlines = new WeakMap<Watcher, number>();
  #stop: (() => void) | undefined;
  #lastBookmark: BookmarkEvent | undefined;

  constructor(options: WatchTimerOptions) {
    this.#options = options;
  }

  /** A watcher was added. `deadline`: when its bookmarks end, by the clock. */
  added(watcher: Watcher, deadline: number | undefined): void {
    if (deadline !== undefined) this.#deadlines.set(watcher, deadline);
    this.#stop ??= this.#options.clock.every(1_000, () => this.#tick());
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Every minute or a bit more often, and two seconds before the deadline; after that never. */
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

  /** One for all watchers at a revision. */
  #bookmark(): BookmarkEvent {
    const revision = this.#options.revision();
    if (this.#lastBookmark?.revision !== revision) this.#lastBookmark = new BookmarkEvent(revision, false);
    return this.#lastBookmark;
  }
}
