import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import type { Status } from '#apimachinery/meta/types';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import type { CacheEvent } from './event-history.ts';

/** What a watcher gets. */
export type WatchEvent = ObjectEvent | BookmarkEvent | ErrorEvent;

/** Frames of one event: made once for each variant and shared by all watchers of that variant. */
abstract class Framed {
  /** Variants and their frames in turn: there are few. */
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

/** DELETED carries the last state (or the last that was selected) under the revision of the event. */
export class ObjectEvent extends Framed {
  /** Of a large object, by variant: what its frame needs, and whether it is there. */
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

  /** Does in steps what has to be there before the frame of a variant is made, once for all watchers of it; undefined: it is there. */
  prepared(variant: string, prepare: (object: CachedObject) => Steps<void>): Promise<void> | undefined {
    const begun = this.#prepared?.get(variant);
    if (begun) return begun.isDone ? undefined : begun.done;
    const preparing = { isDone: false, done: inSteps(prepare(this.object)).then(() => void (preparing.isDone = true)) };
    (this.#prepared ??= new Map()).set(variant, preparing);
    return preparing.done;
  }
}

/** All events up to the revision have been sent. `initialEventsEnd`: with the annotation `k8s.io/initial-events-end`. */
export class BookmarkEvent extends Framed {
  readonly type = 'BOOKMARK';

  constructor(
    readonly revision: Revision,
    readonly initialEventsEnd: boolean,
  ) {
    super();
  }
}

/** The last event of a watch. */
export class ErrorEvent extends Framed {
  readonly type = 'ERROR';

  constructor(readonly status: Status) {
    super();
  }
}

/** One change on its way to the watchers: the three events that it can be, each made once. */
export class Dispatch {
  readonly event: CacheEvent;
  #added: ObjectEvent | undefined = undefined;
  #modified: ObjectEvent | undefined = undefined;
  #deleted: ObjectEvent | undefined = undefined;

  constructor(event: CacheEvent) {
    this.event = event;
  }

  /**
   * What the change is to those who select by `matches`; undefined: nothing.
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
