import type { PriorityClass } from '#kubernetes/schema/scheduling_v1.gen';

/** Defaults a priority class. Upstream: pkg/apis/scheduling/v1/defaults.go. */
export function defaultPriorityClass(priorityClass: PriorityClass): void {
  priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
}
