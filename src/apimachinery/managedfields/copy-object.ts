import type { KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import type { Steps } from '#apimachinery/runtime/steps';

/** A copy of an object that shares only fieldsV1 with it: nobody changes them in place, and they may be as large as all the rest. */
export function copyObject(object: KubeObject): KubeObject {
  return withFieldsOf(object, deepCopy(withoutFields(object)));
}

/** The same of a large one. */
export function* copyObjectSteps(object: KubeObject): Steps<KubeObject> {
  return withFieldsOf(object, yield* deepCopySteps(withoutFields(object)));
}

/** The object with empty places for the fields. */
function withoutFields(object: KubeObject): KubeObject {
  const { managedFields } = object.metadata;
  if (!managedFields) return object;
  const emptied = (entry: ManagedFieldsEntry): ManagedFieldsEntry => (entry.fieldsV1 ? { ...entry, fieldsV1: {} } : entry);
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields.map(emptied) } };
}

function withFieldsOf(object: KubeObject, copy: KubeObject): KubeObject {
  copy.metadata.managedFields?.forEach((entry, at) => {
    const fields = object.metadata.managedFields?.[at]?.fieldsV1;
    if (fields) entry.fieldsV1 = fields;
  });
  return copy;
}
