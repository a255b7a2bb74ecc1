import { formatTime, parseTime } from 'kubenest/sdk';
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from 'kubenest/types/apps_v1';
import { findCondition, withCondition, withoutCondition } from '../common/conditions.ts';
import { maxUnavailable, replicasOf, sumOf, totalReplicas } from './replica-counts.ts';

export const progressing = 'Progressing';
export const reasons = {
  available: 'NewReplicaSetAvailable',
  created: 'NewReplicaSetCreated',
  createFailed: 'ReplicaSetCreateError',
  found: 'FoundNewReplicaSet',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
  timedOut: 'ProgressDeadlineExceeded',
  updated: 'ReplicaSetUpdated',
} as const;

export function hasProgressDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== 0x7fffffff;
}

export function newCondition(type: string, status: string, reason: string, message: string, nowMs: number): DeploymentCondition {
  const now = formatTime(nowMs);
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

/** Returns the sum of the terminating replicas; undefined if a set does not count them. */
function terminatingReplicas(sets: readonly ReplicaSet[]): number | undefined {
  let sum = 0;
  for (const { status } of sets) {
    const isNew = !status?.observedGeneration && status?.terminatingReplicas === undefined;
    if (isNew) continue;
    if (status.terminatingReplicas === undefined) return undefined;
    sum += status.terminatingReplicas;
  }
  return sum;
}

/** Returns the status with the counts of the sets and the condition Available. Upstream: calculateStatus of pkg/controller/deployment. */
export function statusOf(
  deployment: Deployment,
  old: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const all = newSet ? [...old, newSet] : old;
  const available = sumOf(all, 'availableReplicas');
  const terminating = terminatingReplicas(all);
  const { collisionCount, conditions } = deployment.status ?? {};
  const condition =
    available >= replicasOf(deployment) - maxUnavailable(deployment)
      ? newCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', nowMs)
      : newCondition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.', nowMs);
  return {
    ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
    ...withoutZeros({
      replicas: sumOf(all, 'replicas'),
      updatedReplicas: newSet?.status?.replicas ?? 0,
      readyReplicas: sumOf(all, 'readyReplicas'),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, totalReplicas(all) - available),
    }),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    conditions: withCondition(conditions, condition),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** The stored form has no zeros. */
function withoutZeros(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

/** True if all replicas are updated and available, and no others remain. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const desired = replicasOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === desired &&
    (status?.replicas ?? 0) === desired &&
    (status?.availableReplicas ?? 0) === desired &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** True if the rollout advanced between the statuses. */
function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Returns when the rollout counts as stuck; undefined without a deadline or a condition. */
function deadlineMs({ spec }: Deployment, condition: DeploymentCondition | undefined): number | undefined {
  if (!condition) return undefined;
  const updatedMs = condition.lastUpdateTime ? parseTime(condition.lastUpdateTime) : 0;
  return updatedMs + (spec?.progressDeadlineSeconds ?? 0) * 1_000;
}

/** Returns the conditions with the progress of the rollout. Upstream: syncRolloutStatus of pkg/controller/deployment/progress.go. */
function withProgress(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentCondition[] {
  const conditions = status.conditions ?? [];
  const current = findCondition(deployment.status?.conditions, progressing);
  if (!hasProgressDeadline(deployment)) return withoutCondition(conditions, progressing);
  const isDone = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === reasons.available;
  if (isDone) return [...conditions];
  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const condition = (state: string, reason: string, event: string): DeploymentCondition =>
    newCondition(progressing, state, reason, `${subject} ${event}.`, nowMs);
  if (isComplete(deployment, status)) {
    return withCondition(conditions, condition('True', reasons.available, 'has successfully progressed'));
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const advanced = condition('True', reasons.updated, 'is progressing');
    if (current?.status === 'True' && current.lastTransitionTime) advanced.lastTransitionTime = current.lastTransitionTime;
    return [...withoutCondition(conditions, progressing), advanced];
  }
  if (isTimedOut(deployment, findCondition(conditions, progressing), nowMs))
    return withCondition(conditions, condition('False', reasons.timedOut, 'has timed out progressing'));
  return [...conditions];
}

function isTimedOut(deployment: Deployment, condition: DeploymentCondition | undefined, nowMs: number): boolean {
  if (!condition || condition.reason === reasons.available) return false;
  return condition.reason === reasons.timedOut || (deadlineMs(deployment, condition) as number) < nowMs;
}

/** Returns the status during a rollout: with its progress, and with the failure of a set to create pods. */
export function rolloutStatus(
  deployment: Deployment,
  old: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const status = statusOf(deployment, old, newSet, nowMs);
  const conditions = withProgress(deployment, status, newSet, nowMs);
  const failures = [...(newSet ? [newSet] : []), ...old].flatMap(({ status: { conditions: found } = {} }) => {
    const failure = findCondition(found, 'ReplicaFailure');
    return failure ? [failure] : [];
  });
  const [failure] = failures;
  if (!failure) return { ...status, conditions: withoutCondition(conditions, 'ReplicaFailure') };
  const { lastTransitionTime = '' } = failure;
  return { ...status, conditions: withCondition(conditions, { ...failure, lastUpdateTime: lastTransitionTime }) };
}

/**
 * Returns the time after which to look whether a rollout is stuck, in milliseconds; undefined if it is complete or known to be stuck.
 * Upstream: requeueStuckDeployment.
 */
export function nextProgressCheckMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const condition = findCondition(deployment.status?.conditions, progressing);
  if (!hasProgressDeadline(deployment) || !condition) return undefined;
  if (isComplete(deployment, status) || condition.reason === reasons.timedOut) return undefined;
  return Math.max(0, (deadlineMs(deployment, condition) as number) - nowMs) + 1_000;
}
