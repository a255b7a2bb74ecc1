import type { StorageVersionMigration, StorageVersionMigrationStatus } from 'kubenest/types/storagemigration_v1beta1';
import { findCondition } from '../common/conditions.ts';

export const migrations = {
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  resource: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  isClusterScoped: true,
} as const;

type ConditionType = 'Running' | 'Succeeded' | 'Failed';

export function hasCondition({ status }: StorageVersionMigration, type: ConditionType): boolean {
  return findCondition(status?.conditions, type)?.status === 'True';
}

/** True if the migration has succeeded or failed. */
export function hasEnded(migration: StorageVersionMigration): boolean {
  return hasCondition(migration, 'Succeeded') || hasCondition(migration, 'Failed');
}

/** Returns the status with a condition that is true from now on. */
export function withTrue(
  { status = {} }: StorageVersionMigration,
  type: ConditionType,
  { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: string },
): StorageVersionMigrationStatus {
  const condition = { type, status: 'True', lastTransitionTime: now, reason, message };
  return { ...status, conditions: [...(status.conditions ?? []), condition] };
}

/** Returns the status of an ended migration that does not run any more. */
export function completed({ metadata, status = {} }: StorageVersionMigration, now: string): StorageVersionMigrationStatus {
  const completion = { status: 'False', reason: 'MigrationCompleted', message: 'Migration completed', lastTransitionTime: now };
  const observedGeneration = metadata.generation ?? 0;
  const conditions = (status.conditions ?? []).map((one) => (one.type === 'Running' ? { ...one, ...completion, observedGeneration } : one));
  return { ...status, conditions };
}

/**
 * True if the migration is the next one of its resource: none runs, and it is the oldest that waits. Upstream: getSVMsForResource.
 */
export function isNext(migration: StorageVersionMigration, all: readonly StorageVersionMigration[]): boolean {
  const others = all.filter((other) => other.metadata.uid !== migration.metadata.uid && isOfSameResource(other, migration));
  return others.every((other) => hasEnded(other) || (!hasCondition(other, 'Running') && isOlder(migration, other)));
}

export function isOfSameResource(a: StorageVersionMigration, b: StorageVersionMigration): boolean {
  const [one, other] = [a.spec?.resource, b.spec?.resource];
  return (one?.group ?? '') === (other?.group ?? '') && one?.resource === other?.resource;
}

function isOlder(a: StorageVersionMigration, b: StorageVersionMigration): boolean {
  const [one, other] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`) as [string, string];
  return one < other;
}
