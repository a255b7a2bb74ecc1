import { prepareProtobufSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';

/**
 * The expensive part of encoding a large object, which yields to the event loop; the encoding itself is then synchronous. Does
 * nothing for small objects.
 */
export type Prepare = (object: CachedObject) => Steps<void>;

/** Prepares encodings that need the parsed object. */
export const parseObject: Prepare = (object) => object.parseSteps();

/** Prepares protobuf. */
export function* prepareProtobuf(object: CachedObject): Steps<void> {
  if (!needsSteps(object.size)) return;
  yield* object.parseSteps();
  yield* prepareProtobufSteps(object.object);
}
