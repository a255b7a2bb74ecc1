/**
 * The memos of the process that outlive a request and are filled by requests. What each gives must be a function of its key alone: it may
 * save work, and never change an answer or a stored byte. test/memos/memos.test.ts plays random requests with each of them on and off.
 * docs/memos.md lists these and all others.
 */
export interface Memos {
  /** The fields that the creator of a new object owns, by the object's form: managedfields/new-object-fields.ts. */
  newObjectFields: boolean;
  /** Trees of managed fields by their text, and what came of two of them: managedfields/known-fields.ts. */
  knownFields: boolean;
  /** The canonical text of a quantity: api/quantity.ts. */
  canonicalQuantities: boolean;
  /** Parsed quantities of validation: kubernetes/apis/core/validation/checks.ts. */
  amounts: boolean;
  /** Compiled patterns: runtime/regexp.ts. */
  patterns: boolean;
  /** Pull policies by image: kubernetes/apis/core/image-name.ts. */
  pullPolicies: boolean;
  /** Parsed objects of watch caches: apiserver/storage/cacher/cached-object.ts. */
  parsedObjects: boolean;
  /** Encoded runs of lists, by their chunk: apiserver/storage/cacher/object-tree.ts. */
  listRuns: boolean;
  /** Frames of one event for all its watchers: apiserver/storage/cacher/watch-event.ts. */
  eventFrames: boolean;
}

/** Read with each use; only tests change it. */
export const memos: Memos = {
  newObjectFields: true,
  knownFields: true,
  canonicalQuantities: true,
  amounts: true,
  patterns: true,
  pullPolicies: true,
  parsedObjects: true,
  listRuns: true,
  eventFrames: true,
};
