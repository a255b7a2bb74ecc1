import type { CacheEvent } from './event-history.ts';
import type { Predicate } from './predicate.ts';
import { WatchGroup } from './watch-group.ts';
import { Dispatch } from './watch-event.ts';
import { failureOf, type Watcher } from './watcher.ts';

/** Watches of a part of the collection (`Predicate.shards`). */
export interface ShardCounts {
  /** Current number of watchers. */
  watchers: number;
  /** States of objects in other shards, which groups of watchers did not receive. */
  filtered: number;
}

/** The groups of one scope, keyed for the lookup of events. */
interface ScopeGroups {
  readonly any: Map<string, WatchGroup<Watcher>>;
  readonly byName: Map<string, Map<string, WatchGroup<Watcher>>>;
  readonly byField: Map<string, Map<string, Map<string, WatchGroup<Watcher>>>>;
}

/**
 * All watch groups of a cache. The groups for an event are looked up by its key (each prefix is a scope), by its name, and
 * by the values of the indexed fields before and after. The cost therefore does not grow with the number of selectors such
 * as `metadata.name=x` or `spec.nodeName=x`.
 */
export class WatchGroups {
  readonly #scopes = new Map<string, ScopeGroups>();
  readonly #indexed: ReadonlySet<string>;
  readonly shardCounts: ShardCounts = { watchers: 0, filtered: 0 };
  readonly #onOtherShard = (): void => void (this.shardCounts.filtered += 1);
  #size = 0;

  /** `indexed` lists the fields whose exact selectors are looked up. */
  constructor(indexed: readonly string[]) {
    this.#indexed = new Set(indexed);
  }

  /** Number of watchers. */
  get size(): number {
    return this.#size;
  }

  /** Returns the group for a new watcher, which the caller adds to it with `add`. */
  groupFor(scope: string, predicate: Predicate): WatchGroup<Watcher> {
    const present = this.#scopes.get(scope);
    return (
      (present && this.#placeOf(present, predicate)?.get(predicate.key)) ?? new WatchGroup<Watcher>(scope, predicate, this.#onOtherShard)
    );
  }

  add(watcher: Watcher): void {
    const { group } = watcher;
    let scope = this.#scopes.get(group.scope);
    if (!scope) {
      scope = { any: new Map(), byName: new Map(), byField: new Map() };
      this.#scopes.set(group.scope, scope);
    }
    const { exactName, exactField } = group.predicate;
    let place = this.#placeOf(scope, group.predicate);
    if (!place) {
      place = new Map();
      if (exactName !== undefined) scope.byName.set(exactName, place);
      else {
        let values = scope.byField.get(exactField!.field);
        if (!values) scope.byField.set(exactField!.field, (values = new Map()));
        values.set(exactField!.value, place);
      }
    }
    place.set(group.predicate.key, group);
    group.watchers.add(watcher);
    this.#size++;
    if (group.predicate.shards) this.shardCounts.watchers += 1;
  }

  remove(watcher: Watcher): void {
    const { group } = watcher;
    if (!group.watchers.delete(watcher)) return;
    this.#size--;
    if (group.predicate.shards) this.shardCounts.watchers -= 1;
    if (group.watchers.size > 0) return;
    const scope = this.#scopes.get(group.scope)!;
    const place = this.#placeOf(scope, group.predicate)!;
    place.delete(group.predicate.key);
    const { exactName, exactField } = group.predicate;
    if (place !== scope.any && place.size === 0) {
      if (exactName !== undefined) scope.byName.delete(exactName);
      else {
        const values = scope.byField.get(exactField!.field)!;
        values.delete(exactField!.value);
        if (values.size === 0) scope.byField.delete(exactField!.field);
      }
    }
    if (scope.any.size === 0 && scope.byName.size === 0 && scope.byField.size === 0) this.#scopes.delete(group.scope);
  }

  *[Symbol.iterator](): Generator<Watcher, void> {
    for (const { any, byName, byField } of this.#scopes.values()) {
      const places = [any, ...byName.values(), ...[...byField.values()].flatMap((values) => [...values.values()])];
      for (const place of places) for (const group of place.values()) yield* group.watchers;
    }
  }

  /** Sends an event to the live watchers whose group it may concern. */
  dispatch(event: CacheEvent): void {
    if (this.#size === 0) return;
    const failure = failureOf(event.object, event.previous);
    const dispatch = new Dispatch(event);
    const { key } = event;
    const visit = (group: WatchGroup<Watcher>): void => {
      if (!failure) group.dispatch(dispatch);
      else for (const watcher of [...group.watchers]) if (watcher.isLive) watcher.fail(group.statusOf(failure));
    };
    const own = this.#scopes.get(key);
    if (own) this.#visit(own, event, failure !== undefined, visit);
    for (let end = key.lastIndexOf('/'); end >= 0; end = end > 0 ? key.lastIndexOf('/', end - 1) : -1) {
      const scope = this.#scopes.get(key.slice(0, end + 1));
      if (scope) this.#visit(scope, event, failure !== undefined, visit);
    }
  }

  #visit(scope: ScopeGroups, event: CacheEvent, isFailed: boolean, visit: (group: WatchGroup<Watcher>) => void): void {
    for (const group of scope.any.values()) visit(group);
    if (scope.byName.size > 0) {
      for (const group of scope.byName.get(event.key.slice(event.key.lastIndexOf('/') + 1))?.values() ?? []) visit(group);
    }
    for (const [field, values] of scope.byField) {
      if (isFailed) {
        // The fields of an unreadable object are unknown, so every group may match.
        for (const groups of values.values()) for (const group of groups.values()) visit(group);
        continue;
      }
      const after = event.object?.fields[field];
      const before = event.previous?.fields[field];
      if (after !== undefined) for (const group of values.get(after)?.values() ?? []) visit(group);
      if (before !== undefined && before !== after) for (const group of values.get(before)?.values() ?? []) visit(group);
    }
  }

  /** Returns the map that holds groups of this predicate; undefined if it does not exist yet. */
  #placeOf(scope: ScopeGroups, { exactName, exactField }: Predicate): Map<string, WatchGroup<Watcher>> | undefined {
    if (exactName !== undefined) return scope.byName.get(exactName);
    if (exactField && this.#indexed.has(exactField.field)) return scope.byField.get(exactField.field)?.get(exactField.value);
    return scope.any;
  }
}
