import { hasTime, needsSteps } from '#apimachinery/runtime/steps';
import type { Status } from '#apimachinery/meta/types';
import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import type { EventHistory } from './event-history.ts';
import type { Snapshot } from './object-tree.ts';
import { BookmarkEvent, Dispatch, ErrorEvent, ObjectEvent, type WatchEvent } from './watch-event.ts';
import type { WatchGroup } from './watch-group.ts';

/** Why the cache ended a watch. Clients watch again from the last revision that they have seen. */
export type WatchEnd =
  /** After an ERROR event. */
  | 'error'
  /** The client took nothing for too long. */
  | 'slow'
  | 'closed';

/** The client's side of a watch: it makes frames of events and sends them. */
export interface WatchSink {
  /** In order, each once. Must not wait and must not throw. */
  send(event: WatchEvent): void;
  /** What is to be waited for before the event of a large object is sent; undefined: nothing. Rejects where it cannot be sent. */
  prepare?(event: ObjectEvent): Promise<void> | undefined;
  /** Bytes that were sent and that the client has not taken yet. Above a limit no more comes until `WatchHandle.drained`. */
  bufferedBytes(): number;
  /** Nothing follows. Not called after `WatchHandle.close`. */
  end(reason: WatchEnd): void;
}

export interface WatchHandle {
  /** The client has taken what was buffered. */
  drained(): void;
  /** The client has gone. */
  close(): void;
}

/** What a watcher needs of its cache. */
export interface WatchSource {
  history(): EventHistory;
  now(): number;
  /** The status of a history that does not reach back to the revision. */
  tooOld(revision: Revision): Status;
  /** A later call, so that a long catch-up lets others run. */
  defer(callback: () => void): void;
  remove(watcher: Watcher): void;
}

export interface WatcherStart {
  /** Objects to send first, as ADDED; undefined: none. */
  readonly initial: Snapshot | undefined;
  /** Events after it follow. */
  readonly revision: Revision;
  /** A bookmark with the annotation follows the initial objects. */
  readonly endBookmark: boolean;
  /** When the next bookmark is due, by the clock of the cache; Infinity: never. */
  readonly bookmarkAt: number;
}

/** No more is sent to a sink that holds back so much. */
const highWaterBytes = 65_536;
/** A sink that does not drain for so long is closed. */
const slowMs = 30_000;
const eventsPerTurn = 1_000;
/** So many are sent before the time is looked at: those that nobody had in this form before are encoded. */
const eventsPerLook = 16;

/**
 * One watch. While its sink takes what comes, it is live: events are sent as they are dispatched. Else it is only a place
 * in the history, which holds the events anyway, and goes on from there when the sink has drained: a slow client costs
 * no memory.
 *
 *     initial objects -> catching up with the history -> live
 *                              ^                          |  the sink is full
 *                              +--------------------------+
 */
export class Watcher implements WatchHandle {
  readonly #source: WatchSource;
  readonly #sink: WatchSink;
  readonly group: WatchGroup<Watcher>;
  /** Events up to here are not to be sent (any more). It is not kept up while the watcher is live. */
  #cursor: Revision;
  #initial: Iterator<CachedObject, void> | undefined;
  /** What its frame needs is being made; nothing else is sent before it. */
  #held: ObjectEvent | undefined;
  #endBookmark: boolean;
  #isLive = false;
  #isClosed = false;
  #isPumping = false;
  #isDeferred = false;
  /** Since when the sink has been full. */
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

  /** Sends an event that the group has found to concern it; to be called while it is live. */
  send(event: ObjectEvent | BookmarkEvent): void {
    // Of a watch from a revision that has not come yet, and what is before it is not asked for.
    if (event.type === 'BOOKMARK' ? event.revision < this.#cursor : event.revision <= this.#cursor) return;
    const isSent = this.#sendOrHold(event);
    if (isSent && !this.#isFull()) return;
    this.#isLive = false;
    this.#cursor = event.revision;
    if (isSent) this.#fullSince = this.#source.now();
  }

  /** False: the event is sent once it is prepared, and nothing may be before it. */
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

  /** Begins, or goes on, with what is missing; to be called when the sink may be ready. */
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

  /** To be called now and then: ends the watch if the sink has been full for too long. */
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

  /** Whether it must wait for a later turn when so many have been sent in this one, the last of which was of so many bytes. */
  #isOver(sent: number, lastBytes: number): boolean {
    const looks = sent > 0 && (sent % eventsPerLook === 0 || needsSteps(lastBytes));
    return sent === eventsPerTurn || (looks && !hasTime()) || this.#isFull();
  }

  #isFull(): boolean {
    return this.#isClosed || this.#sink.bufferedBytes() > highWaterBytes;
  }

  /** False: there is more. */
  #pumpInitial(): boolean {
    let bytes = 0;
    for (let sent = 0; this.#initial; sent++) {
      if (this.#isOver(sent, bytes)) return false;
      const { value: object } = this.#initial.next();
      bytes = object?.size ?? 0;
      if (!object) this.#initial = undefined;
      else if (object.failure) this.fail(this.group.statusOf(object.failure));
      else if (this.group.predicate.matches(object) && !this.#sendOrHold(new ObjectEvent('ADDED', object))) return false;
    }
    if (this.#endBookmark && !this.#isClosed) {
      this.#endBookmark = false;
      this.#sink.send(new BookmarkEvent(this.#cursor, true));
    }
    return true;
  }

  /** False: there is more, or the watch has ended. */
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

/** The failure of the states that an event is about. */
export function failureOf(object: CachedObject | undefined, previous: CachedObject | undefined): Error | undefined {
  return object?.failure ?? previous?.failure;
}
