import { newInternalError, StatusError } from '#apimachinery/api/errors';
import type { Status } from '#apimachinery/meta/types';
import type { CachedObject } from './cached-object.ts';
import type { Snapshot } from './object-tree.ts';
import type { Predicate } from './predicate.ts';
import type { BookmarkEvent, Dispatch, ObjectEvent } from './watch-event.ts';

/** A watcher as its group sees it. */
export interface GroupWatcher {
  /** True once the watcher has caught up and takes events from its group. */
  readonly isLive: boolean;
  send(event: ObjectEvent | BookmarkEvent): void;
  fail(status: Status): void;
}

/** Watchers with the same scope and the same predicate: an event is filtered once for all of them. */
export class WatchGroup<W extends GroupWatcher> {
  readonly watchers = new Set<W>();
  readonly matches: (object: CachedObject) => boolean;

  /** `scope`: a prefix that ends with `/`, or one key. `onOtherShard` is called for each state outside of the predicate's shards. */
  constructor(
    readonly scope: string,
    readonly predicate: Predicate,
    onOtherShard: () => void = () => {},
  ) {
    const { shards } = predicate;
    this.matches = predicate.isEmpty ? () => true : (object) => predicate.matches(object);
    if (!shards) return;
    this.matches = (object) => {
      if (shards.matches(object)) return predicate.matches(object);
      onOtherShard();
      return false;
    };
  }

  covers(key: string): boolean {
    return this.scope.endsWith('/') ? key.startsWith(this.scope) : key === this.scope;
  }

  /** The objects of its scope, whether they match or not. */
  *objectsOf(snapshot: Snapshot): Generator<CachedObject, void> {
    if (this.scope.endsWith('/')) {
      for (const { items } of snapshot.chunks(this.scope)) yield* items;
      return;
    }
    const object = snapshot.get(this.scope);
    if (object) yield object;
  }

  dispatch(dispatch: Dispatch): void {
    const event = dispatch.for(this.matches);
    if (!event) return;
    for (const watcher of this.watchers) if (watcher.isLive) watcher.send(event);
  }

  statusOf(failure: Error): Status {
    return failure instanceof StatusError ? failure.status : newInternalError(failure).status;
  }
}
