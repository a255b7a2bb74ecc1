import type { HPAScalingRules, HorizontalPodAutoscaler } from '#kubernetes/schema/autoscaling_v2.gen';

const periodSeconds = 15;

/** Defaults an autoscaler. Upstream: pkg/apis/autoscaling/v2/defaults.go. */
export function defaultHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): void {
  const spec = (autoscaler.spec ??= {});
  spec.minReplicas ??= 1;
  if (!spec.metrics?.length) {
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }];
  }
  const { behavior } = spec;
  if (behavior === undefined) return;
  behavior.scaleUp = defaultScaleUpRules(behavior.scaleUp);
  behavior.scaleDown = defaultScaleDownRules(behavior.scaleDown);
}

/** Defaults the scale-up rules: the larger of four pods and 100 percent, every 15 seconds. */
function defaultScaleUpRules(rules: HPAScalingRules = {}): HPAScalingRules {
  rules.stabilizationWindowSeconds ??= 0;
  rules.selectPolicy ??= 'Max';
  rules.policies ??= [
    { type: 'Pods', value: 4, periodSeconds },
    { type: 'Percent', value: 100, periodSeconds },
  ];
  return rules;
}

/** Defaults the scale-down rules. The stabilization window has no default here; it is a flag of the controller. */
function defaultScaleDownRules(rules: HPAScalingRules = {}): HPAScalingRules {
  rules.selectPolicy ??= 'Max';
  rules.policies ??= [{ type: 'Percent', value: 100, periodSeconds }];
  return rules;
}
