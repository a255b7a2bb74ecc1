import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { setCondition } from '../conditions.ts';

/** Finalizer that keeps a definition until its instances are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * Starts the deletion of a definition, which ends after that of its instances. Upstream: pkg/registry/customresourcedefinition/etcd.go
 * (Delete).
 */
export function beginDeletion(definition: CustomResourceDefinition, now: string): void {
  const { metadata } = definition;
  metadata.deletionTimestamp = now;
  if (!metadata.finalizers?.includes(cleanupFinalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
  definition.status ??= {};
  setCondition(
    definition.status,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
}
