import type { GroupVersionKind, KubeObject, OwnerReference } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';

/** Returns the reference to the controller of an object; undefined if it has none. Upstream: metav1.GetControllerOf. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

/** True if the owner controls the object. Upstream: metav1.IsControlledBy. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** Returns a controller reference to the owner, which blocks the owner's deletion in the foreground. Upstream: metav1.NewControllerRef. */
export function newControllerReference(owner: KubeObject, kind: GroupVersionKind): OwnerReference {
  return { ...newOwnerReference(owner, kind), blockOwnerDeletion: true, controller: true };
}

/** Returns a reference to an owner that does not control the object. */
export function newOwnerReference({ metadata: { name, uid } }: KubeObject, kind: GroupVersionKind): OwnerReference {
  return { apiVersion: groupVersionString(kind), kind: kind.kind, name: name as string, uid: uid as string };
}
