import type { KubeObject } from '#apimachinery/meta/types';

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** Adds a finalizer to the object. Returns false if it has it. */
export function addFinalizer(object: KubeObject, finalizer: string): boolean {
  if (hasFinalizer(object, finalizer)) return false;
  object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return true;
}

/** Removes a finalizer from the object. Returns false if it does not have it. */
export function removeFinalizer(object: KubeObject, finalizer: string): boolean {
  if (!hasFinalizer(object, finalizer)) return false;
  object.metadata.finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return true;
}
