import type { PriorityClass } from '#kubernetes/schema/scheduling_v1.gen';

/** Upstream: pkg/apis/scheduling/v1/defaults.go. */
export function defaultPriorityClass(priorityClass: PriorityClass): void {
  priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
}
