/**
 * Caches of the process that outlive a request and are filled by requests. A cached value must be a function of its key alone: a cache may
 * save work, but never change a response or a stored byte. test/memos/memos.test.ts runs random requests with each cache on and off.
 * docs/internals/memos.md lists these and all others.
 */
export interface Memos {
  /** Fields that the creator of a new object owns, by the object's form: managedfields/new-object-fields.ts. */
  newObjectFields: boolean;
  /** Interned managed fields by their text, and results of set operations: managedfields/known-fields.ts. */
  knownFields: boolean;
  /** Canonical texts of quantities: api/quantity.ts. */
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
  /** Steps of admission by namespace and user: apiserver/admission/step-selection.ts. */
  stepSelections: boolean;
}

/** Read on each use; only tests change it. */
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
  stepSelections: true,
};
