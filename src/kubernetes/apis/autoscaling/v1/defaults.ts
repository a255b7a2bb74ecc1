import type { HorizontalPodAutoscaler } from '#kubernetes/schema/autoscaling_v1.gen';

/**
 * Defaults of autoscalers. The conversion defaults the CPU target utilization, since only it knows the metrics in the annotations.
 * Upstream: pkg/apis/autoscaling/v1/defaults.go.
 */
export function defaultHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): void {
  (autoscaler.spec ??= {}).minReplicas ??= 1;
}
