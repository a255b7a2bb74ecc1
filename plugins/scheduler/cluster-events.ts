import { deepEqual } from 'kubenest/sdk';
import type { Node, Pod } from 'kubenest/types/core_v1';
import type { ClusterEvent } from './framework/framework.ts';

/**
 * Changes of a node that may make pods schedulable; none for a heartbeat. Upstream: framework/events.go (NodeSchedulingPropertiesChange).
 */
export function nodeChanges(node: Node, old: Node): ClusterEvent[] {
  const events: ClusterEvent[] = [];
  if (!deepEqual(node.status?.allocatable ?? {}, old.status?.allocatable ?? {})) events.push('NodeAllocatableChanged');
  if (!deepEqual(node.metadata.labels ?? {}, old.metadata.labels ?? {})) events.push('NodeLabelsChanged');
  const isTaintChange = !deepEqual(node.spec?.taints ?? [], old.spec?.taints ?? []) || node.spec?.unschedulable !== old.spec?.unschedulable;
  if (isTaintChange) events.push('NodeTaintsChanged');
  return events;
}

/** True if a change of a pod on a node affects scheduling: its specification, its labels, its deletion or its end. */
export function isRelevantPodChange(pod: Pod, old: Pod): boolean {
  return (
    pod.metadata.generation !== old.metadata.generation ||
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    pod.spec?.nodeName !== old.spec?.nodeName ||
    isFinished(pod) !== isFinished(old) ||
    !deepEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {})
  );
}

/** True if the pod's containers have ended permanently, so that it needs no resources. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
