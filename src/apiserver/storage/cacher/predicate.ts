import type { CachedObject } from './cached-object.ts';

/** What a list or a watch selects, beside its scope. */
export interface Predicate {
  /** Equal for predicates that select the same: watchers with one key are filtered once. */
  readonly key: string;
  /** It selects everything. */
  readonly isEmpty: boolean;
  /** It selects only objects of this name (`metadata.name=x`). */
  readonly exactName?: string | undefined;
  /** It selects only objects with this value of a field; of use if the cacher has an index of the field. */
  readonly exactField?: { readonly field: string; readonly value: string } | undefined;
  matches(object: CachedObject): boolean;
}

export const everything: Predicate = { key: '', isEmpty: true, matches: () => true };
