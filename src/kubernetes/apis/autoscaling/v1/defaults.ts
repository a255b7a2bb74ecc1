import type { HorizontalPodAutoscaler } from '#kubernetes/schema/autoscaling_v1.gen';

/** The target utilization of cpu is a matter of the conversion, which knows the metrics of the annotations. Upstream: pkg/apis/autoscaling/v1/defaults.go. */
export function defaultHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): void {
  (autoscaler.spec ??= {}).minReplicas ??= 1;
}
