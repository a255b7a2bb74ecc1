import { deepEqual, formatTime, selectorFromSet } from 'kubenest/sdk';
import type { ReplicaSetStatus } from 'kubenest/types/apps_v1';
import type { Pod, PodTemplateSpec } from 'kubenest/types/core_v1';
import { findCondition, withCondition, withoutCondition } from '../common/conditions.ts';
import { isPodAvailable, isPodReady } from '../common/pods.ts';

/** Parts of a set of replicas that its status depends on. */
export interface ReplicaState {
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly template: PodTemplateSpec;
  readonly generation: number;
  readonly status: ReplicaSetStatus;
}

const failure = 'ReplicaFailure';

/**
 * Returns the status of a set with these active pods. `terminating`: number of pods that are being deleted; undefined leaves it out.
 * `error`: the error of the attempt to reach the number of replicas. Upstream: calculateStatus of pkg/controller/replicaset.
 */
export function statusOf(
  { replicas, minReadySeconds, template, status }: ReplicaState,
  active: readonly Pod[],
  terminating: number | undefined,
  error: Error | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const templateLabels = selectorFromSet(template.metadata?.labels);
  const ready = active.filter(isPodReady);
  const present = findCondition(status.conditions, failure);
  let { conditions } = status;
  if (error && !present) {
    const reason = active.length < replicas ? 'FailedCreate' : active.length > replicas ? 'FailedDelete' : '';
    conditions = withCondition(conditions, {
      type: failure,
      status: 'True',
      lastTransitionTime: formatTime(nowMs),
      reason,
      message: error.message,
    });
  } else if (!error && present) {
    conditions = withoutCondition(conditions, failure);
  }
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => templateLabels.matches(metadata.labels ?? {})).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(status.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    ...(conditions && conditions.length > 0 && { conditions }),
  };
}

/** True if the set already has the status and was observed in its generation. */
export function isUpToDate({ status, generation }: ReplicaState, next: ReplicaSetStatus): boolean {
  return (
    (status.replicas ?? 0) === next.replicas &&
    (status.fullyLabeledReplicas ?? 0) === next.fullyLabeledReplicas &&
    (status.readyReplicas ?? 0) === next.readyReplicas &&
    (status.availableReplicas ?? 0) === next.availableReplicas &&
    status.terminatingReplicas === next.terminatingReplicas &&
    generation === status.observedGeneration &&
    deepEqual(status.conditions ?? [], next.conditions ?? [])
  );
}
