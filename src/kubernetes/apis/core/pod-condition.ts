import { now } from '#apimachinery/runtime/time';
import type { Pod, PodCondition } from '#kubernetes/schema/core_v1.gen';

/** Sets a condition of a pod, in place. Its transition time changes only with its status. Upstream: kubernetes/pkg/api/pod/util.go. */
export function updatePodCondition(pod: Pod, condition: PodCondition): void {
  const status = (pod.status ??= {});
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const lastTransitionTime = old?.status === condition.status && old?.lastTransitionTime ? old.lastTransitionTime : now();
  const next: PodCondition = { ...condition, lastTransitionTime };
  if (old) conditions[at] = next;
  else conditions.push(next);
}
