import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { withManagedFields } from './managers.ts';

/**
 * Returns the object to store instead of `next`: if it differs from `live` only in the times of managedFields, the old times are restored,
 * so that nothing is written. Both must be decoded and complete (including resourceVersion).
 * apiserver/pkg/endpoints/handlers/fieldmanager/equality.go, IgnoreManagedFieldsTimestampsTransformer.
 */
export function ignoreManagedFieldsTimestamps(next: KubeObject, live: KubeObject): KubeObject {
  const ours = next.metadata.managedFields;
  const theirs = live.metadata.managedFields;
  if (!ours || !theirs || ours === theirs || ours.length === 0 || ours.length !== theirs.length) return next;
  if (ours.every(({ time }, index) => time === theirs[index]!.time)) return next;
  const same = ours.every((entry, index) => deepEqual({ ...entry, time: undefined }, { ...theirs[index], time: undefined }));
  if (!same || !deepEqual(withManagedFields(next, undefined), withManagedFields(live, undefined))) return next;
  return withManagedFields(next, theirs);
}
