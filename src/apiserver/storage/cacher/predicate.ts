import type { CachedObject } from './cached-object.ts';

/** Part of a collection, selected by hashes. Upstream: apimachinery/pkg/sharding. */
export interface ShardSelector {
  /** Canonical text, which lists return. */
  readonly text: string;
  matches(object: CachedObject): boolean;
}

/** Selection of a list or a watch, in addition to its scope. */
export interface Predicate {
  /** Equal for predicates that select the same objects; watchers with the same key are filtered once. */
  readonly key: string;
  /** True if it selects everything. */
  readonly isEmpty: boolean;
  /** Set if it selects only objects with this name (`metadata.name=x`). */
  readonly exactName?: string | undefined;
  /** Set if it selects only objects of this namespace (`metadata.namespace=x`). */
  readonly exactNamespace?: string | undefined;
  /** Set if it selects only objects with this value of a field; used if the cacher indexes the field. */
  readonly exactField?: { readonly field: string; readonly value: string } | undefined;
  /** Shards that the objects must belong to. */
  readonly shards?: ShardSelector | undefined;
  /** True if a page states how many objects remain, selected or not. Default: `isEmpty`. */
  readonly countsRemaining?: boolean;
  matches(object: CachedObject): boolean;
}

export const everything: Predicate = { key: '', isEmpty: true, matches: () => true };
