import type { CachedObject } from './cached-object.ts';

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
  matches(object: CachedObject): boolean;
}

export const everything: Predicate = { key: '', isEmpty: true, matches: () => true };
