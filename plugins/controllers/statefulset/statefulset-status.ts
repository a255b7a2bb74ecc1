import type { StatefulSet, StatefulSetStatus } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { isPodAvailable, isPodReady } from '../common/pods.ts';
import { isCreated, replicasOf, revisionOf } from './stateful-pods.ts';
import type { Revisions } from './statefulset-history.ts';

/** Returns the status of a set with these pods. Upstream: computeReplicaStatus of pkg/controller/statefulset. */
export function statusOf(
  set: StatefulSet,
  { current, update, collisionCount }: Revisions,
  pods: readonly Pod[],
  nowMs: number,
): StatefulSetStatus {
  const created = pods.filter(isCreated);
  const ready = created.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const staying = created.filter(({ metadata }) => !metadata.deletionTimestamp);
  const currentRevision = current.metadata.name as string;
  const updateRevision = update.metadata.name as string;
  const count = (revision: string): number => staying.filter((pod) => revisionOf(pod) === revision).length;
  return {
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    replicas: created.length,
    readyReplicas: ready.length,
    currentReplicas: count(currentRevision),
    updatedReplicas: count(updateRevision),
    currentRevision,
    updateRevision,
    collisionCount,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)).length,
  };
}

/** Returns the status with the update as the current revision if all pods have it and are ready. Upstream: completeRollingUpdate. */
export function completed(set: StatefulSet, status: StatefulSetStatus): StatefulSetStatus {
  const replicas = replicasOf(set);
  const isComplete =
    set.spec?.updateStrategy?.type === 'RollingUpdate' &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas &&
    status.replicas === replicas;
  if (!isComplete) return status;
  return { ...status, currentReplicas: replicas, currentRevision: status.updateRevision as string };
}

const counts = ['replicas', 'currentReplicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas'] as const;

/** True if the set does not have the status. Upstream: inconsistentStatus. */
export function differs({ status = {} }: StatefulSet, next: StatefulSetStatus): boolean {
  return (
    (next.observedGeneration ?? 0) > (status.observedGeneration ?? 0) ||
    counts.some((count) => (next[count] ?? 0) !== (status[count] ?? 0)) ||
    next.currentRevision !== status.currentRevision ||
    next.updateRevision !== status.updateRevision
  );
}
