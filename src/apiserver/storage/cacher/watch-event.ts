import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import type { Status } from '#apimachinery/meta/types';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import type { CacheEvent } from './event-history.ts';

/** An event sent to a watcher. */
export type WatchEvent = ObjectEvent | BookmarkEvent | ErrorEvent;

/** An event with cached frames, encoded once for each variant and shared by its watchers. */
abstract class Framed {
  /** Variants and their frames, alternating; a linear search suffices for so few. */
  #frames: (string | Buffer)[] | undefined = undefined;

  frame(this: WatchEvent, variant: string, make: (event: WatchEvent) => Buffer): Buffer {
    if (!memos.eventFrames) return make(this);
    const frames = (this.#frames ??= []);
    for (let i = 0; i < frames.length; i += 2) if (frames[i] === variant) return frames[i + 1] as Buffer;
    const bytes = make(this);
    frames.push(variant, bytes);
    return bytes;
  }
}

/** A change of an object. DELETED carries the last state (or the last selected one) at the revision of the event. */
export class ObjectEvent extends Framed {
  /** Preparation of a large object's frames by variant. */
  #prepared: Map<string, { isDone: boolean; readonly done: Promise<void> }> | undefined = undefined;

  constructor(
    readonly type: 'ADDED' | 'MODIFIED' | 'DELETED',
    readonly object: CachedObject,
  ) {
    super();
  }

  get revision(): Revision {
    return this.object.revision;
  }

  /**
   * Prepares the frame of a variant, yielding to the event loop, once for all its watchers; undefined if it is prepared
   * already.
   */
  prepared(variant: string, prepare: (object: CachedObject) => Steps<void>): Promise<void> | undefined {
    const begun = this.#prepared?.get(variant);
    if (begun) return begun.isDone ? undefined : begun.done;
    const preparing = { isDone: false, done: inSteps(prepare(this.object)).then(() => void (preparing.isDone = true)) };
    (this.#prepared ??= new Map()).set(variant, preparing);
    return preparing.done;
  }
}

/**
 * States that all events up to the revision have been sent. `initialEventsEnd` adds the annotation
 * `k8s.io/initial-events-end`.
 */
export class BookmarkEvent extends Framed {
  readonly type = 'BOOKMARK';

  constructor(
    readonly revision: Revision,
    readonly initialEventsEnd: boolean,
  ) {
    super();
  }
}

/** An error, the last event of a watch. */
export class ErrorEvent extends Framed {
  readonly type = 'ERROR';

  constructor(readonly status: Status) {
    super();
  }
}

/** A change being dispatched, with its three possible events, each created once. */
export class Dispatch {
  readonly event: CacheEvent;
  #added: ObjectEvent | undefined = undefined;
  #modified: ObjectEvent | undefined = undefined;
  #deleted: ObjectEvent | undefined = undefined;

  constructor(event: CacheEvent) {
    this.event = event;
  }

  /**
   * Returns the event for watchers that select by `matches`; undefined if there is none.
   *
   * | matches before | matches after | event                                |
   * |----------------|---------------|--------------------------------------|
   * | no             | yes           | ADDED                                |
   * | yes            | yes           | MODIFIED                             |
   * | yes            | no            | DELETED, the state before            |
   * | no             | no            | none                                 |
   */
  for(matches: (object: CachedObject) => boolean): ObjectEvent | undefined {
    const { object, previous, revision } = this.event;
    const isSelected = object !== undefined && matches(object);
    const wasSelected = previous !== undefined && matches(previous);
    if (isSelected)
      return wasSelected ? (this.#modified ??= new ObjectEvent('MODIFIED', object)) : (this.#added ??= new ObjectEvent('ADDED', object));
    return wasSelected ? (this.#deleted ??= new ObjectEvent('DELETED', previous.at(revision))) : undefined;
  }
}
