import type { KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import type { Steps } from '#apimachinery/runtime/steps';

/** Copies an object except fieldsV1, which are never changed in place and may be as large as the rest. */
export function copyObject(object: KubeObject): KubeObject {
  return withFieldsOf(object, deepCopy(withoutFields(object)));
}

/** Like `copyObject`, but yields to the event loop. */
export function* copyObjectSteps(object: KubeObject): Steps<KubeObject> {
  return withFieldsOf(object, yield* deepCopySteps(withoutFields(object)));
}

/** Returns the object with placeholders for fieldsV1. */
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
