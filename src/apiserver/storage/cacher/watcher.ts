import { hasTime, needsSteps } from '#apimachinery/runtime/steps';
import type { Status } from '#apimachinery/meta/types';
import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import type { EventHistory } from './event-history.ts';
import type { Snapshot } from './object-tree.ts';
import { BookmarkEvent, Dispatch, ErrorEvent, ObjectEvent, type WatchEvent } from './watch-event.ts';
import type { WatchGroup } from './watch-group.ts';

/** The reason why the cache ended a watch. The client resumes from the last revision that it received. */
export type WatchEnd =
  /** An ERROR event was sent. */
  | 'error'
  /** The client read nothing until the timeout. */
  | 'slow'
  | 'closed';

/** The client's side of a watch: encodes events as frames and sends them. */
export interface WatchSink {
  /** Sends the next event. Must neither block nor throw. */
  send(event: WatchEvent): void;
  /**
   * Prepares the event of a large object; the watcher waits for the promise before it sends the event. Undefined if no
   * preparation is needed. Rejects if the event cannot be sent.
   */
  prepare?(event: ObjectEvent): Promise<void> | undefined;
  /** Number of bytes sent that the client has not read. Above the limit, sending pauses until `WatchHandle.drained`. */
  bufferedBytes(): number;
  /** Ends the watch. Not called after `WatchHandle.close`. */
  end(reason: WatchEnd): void;
}

export interface WatchHandle {
  /** Reports that the client has read the buffered bytes. */
  drained(): void;
  /** Ends the watch because the client disconnected. */
  close(): void;
}

/** The part of the cache that a watcher depends on. */
export interface WatchSource {
  history(): EventHistory;
  now(): number;
  /** Returns the status of a revision older than the history. */
  tooOld(revision: Revision): Status;
  /** Schedules a later call, so that a long catch-up yields to the event loop. */
  defer(callback: () => void): void;
  remove(watcher: Watcher): void;
}

export interface WatcherStart {
  /** Objects to send first as ADDED; undefined: none. */
  readonly initial: Snapshot | undefined;
  /** Revision after which events are sent. */
  readonly revision: Revision;
  /** True if a bookmark with the annotation follows the initial objects. */
  readonly endBookmark: boolean;
  /** Time of the next bookmark by the clock of the cache; Infinity: never. */
  readonly bookmarkAt: number;
}

/** Buffered bytes above which sending pauses. */
const highWaterBytes = 65_536;
/** Time after which a sink that does not drain is closed. */
const slowMs = 30_000;
const eventsPerTurn = 1_000;
/** Number of events sent between checks of the elapsed time; events without a cached frame are encoded. */
const eventsPerLook = 16;

/**
 * One watch. While its sink accepts events, the watcher is live: events are sent as they are dispatched. Otherwise the
 * watcher is only a position in the history and resumes there when the sink has drained, so a slow client costs no memory.
 *
 *     initial objects -> catching up with the history -> live
 *                              ^                          |  the sink is full
 *                              +--------------------------+
 */
export class Watcher implements WatchHandle {
  readonly #source: WatchSource;
  readonly #sink: WatchSink;
  readonly group: WatchGroup<Watcher>;
  /** Revision up to which events are not sent (again). Not updated while the watcher is live. */
  #cursor: Revision;
  #initial: Iterator<CachedObject, void> | undefined;
  /** The event whose frame is being prepared; later events wait for it. */
  #held: ObjectEvent | undefined;
  #endBookmark: boolean;
  #isLive = false;
  #isClosed = false;
  #isPumping = false;
  #isDeferred = false;
  /** Time since which the sink has been full. */
  #fullSince = 0;
  bookmarkAt: number;

  constructor(source: WatchSource, sink: WatchSink, group: WatchGroup<Watcher>, start: WatcherStart) {
    this.#source = source;
    this.#sink = sink;
    this.group = group;
    this.#cursor = start.revision;
    this.#endBookmark = start.endBookmark;
    this.bookmarkAt = start.bookmarkAt;
    this.#initial = start.initial && group.objectsOf(start.initial);
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Sends an event that the group selected; called only while the watcher is live. */
  send(event: ObjectEvent | BookmarkEvent): void {
    // A watch from a future revision skips the events before it.
    if (event.type === 'BOOKMARK' ? event.revision < this.#cursor : event.revision <= this.#cursor) return;
    const isSent = this.#sendOrHold(event);
    if (isSent && !this.#isFull()) return;
    this.#isLive = false;
    this.#cursor = event.revision;
    if (isSent) this.#fullSince = this.#source.now();
  }

  /** Returns false if the event is sent later, after its preparation; later events must wait. */
  #sendOrHold(event: ObjectEvent | BookmarkEvent): boolean {
    const large = event.type !== 'BOOKMARK' && needsSteps(event.object.size) ? event : undefined;
    const preparing = large && this.#sink.prepare?.(large);
    if (!preparing) {
      this.#sink.send(event);
      return true;
    }
    this.#held = large;
    preparing.then(
      () => this.#release(),
      (error: Error) => this.fail(this.group.statusOf(error)),
    );
    return false;
  }

  #release(): void {
    const event = this.#held;
    this.#held = undefined;
    if (this.#isClosed || !event) return;
    this.#sink.send(event);
    this.pump();
  }

  /** Starts or resumes sending; called when the sink may be ready. */
  pump(): void {
    if (this.#isClosed || this.#isLive || this.#isPumping || this.#isDeferred || this.#held) return;
    this.#isPumping = true;
    const isDone = this.#pumpInitial() && this.#pumpHistory();
    this.#isPumping = false;
    if (this.#isClosed || this.#held) return;
    if (isDone) this.#isLive = true;
    else if (this.#sink.bufferedBytes() > highWaterBytes) this.#fullSince = this.#source.now();
    else this.#pumpLater();
  }

  drained(): void {
    if (hasTime()) this.pump();
    else this.#pumpLater();
  }

  #pumpLater(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#source.defer(() => {
      this.#isDeferred = false;
      this.pump();
    });
  }

  /** Ends the watch if the sink has been full for too long; called periodically. */
  checkSlow(now: number): void {
    if (this.#isLive || this.#isClosed || this.#held) return;
    if (this.#sink.bufferedBytes() <= highWaterBytes) this.pump();
    else if (now - this.#fullSince >= slowMs) this.end('slow');
  }

  fail(status: Status): void {
    if (this.#isClosed) return;
    this.#sink.send(new ErrorEvent(status));
    this.end('error');
  }

  end(reason: WatchEnd): void {
    if (this.#isClosed) return;
    this.close();
    this.#sink.end(reason);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isLive = false;
    this.#initial = undefined;
    this.#source.remove(this);
  }

  /** True if the watcher must yield after sending `sent` events in this turn, the last of `lastBytes` bytes. */
  #isOver(sent: number, lastBytes: number): boolean {
    const looks = sent > 0 && (sent % eventsPerLook === 0 || needsSteps(lastBytes));
    return sent === eventsPerTurn || (looks && !hasTime()) || this.#isFull();
  }

  #isFull(): boolean {
    return this.#isClosed || this.#sink.bufferedBytes() > highWaterBytes;
  }

  /** Returns false if more objects remain. */
  #pumpInitial(): boolean {
    let bytes = 0;
    for (let sent = 0; this.#initial; sent++) {
      if (this.#isOver(sent, bytes)) return false;
      const { value: object } = this.#initial.next();
      bytes = object?.size ?? 0;
      if (!object) this.#initial = undefined;
      else if (object.failure) this.fail(this.group.statusOf(object.failure));
      else if (this.group.matches(object) && !this.#sendOrHold(new ObjectEvent('ADDED', object))) return false;
    }
    if (this.#endBookmark && !this.#isClosed) {
      this.#endBookmark = false;
      this.#sink.send(new BookmarkEvent(this.#cursor, true));
    }
    return true;
  }

  /** Returns false if more events remain or the watch has ended. */
  #pumpHistory(): boolean {
    const history = this.#source.history();
    if (this.#isClosed) return false;
    if (this.#cursor < history.completeAfter) {
      this.fail(this.#source.tooOld(this.#cursor));
      return false;
    }
    const first = history.indexAfter(this.#cursor);
    let bytes = 0;
    for (let i = first; i < history.size; i++) {
      if (this.#isOver(i - first, bytes)) return false;
      const event = history.at(i);
      bytes = Math.max(event.object?.size ?? 0, event.previous?.size ?? 0);
      this.#cursor = event.revision;
      if (!this.group.covers(event.key)) continue;
      const failure = failureOf(event.object, event.previous);
      if (failure) {
        this.fail(this.group.statusOf(failure));
        return false;
      }
      const sent = new Dispatch(event).for(this.group.matches);
      if (sent && !this.#sendOrHold(sent)) return false;
    }
    return !this.#isFull();
  }
}

/** Returns the failure of either state of an event. */
export function failureOf(object: CachedObject | undefined, previous: CachedObject | undefined): Error | undefined {
  return object?.failure ?? previous?.failure;
}
