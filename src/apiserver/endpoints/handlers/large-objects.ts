import { prepareProtobufSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';

/** What takes longest of showing a large object, before it is shown in one go; of any other it does nothing. */
export type Prepare = (object: CachedObject) => Steps<void>;

/** For forms that are made of the parsed object. */
export const parseObject: Prepare = (object) => object.parseSteps();

/** For protobuf. */
export function* prepareProtobuf(object: CachedObject): Steps<void> {
  if (!needsSteps(object.size)) return;
  yield* object.parseSteps();
  yield* prepareProtobufSteps(object.object);
}
