import { expect, it } from 'vitest';
import type { HorizontalPodAutoscalerSpec } from '#kubernetes/schema/autoscaling_v2.gen';
import { validateHorizontalPodAutoscaler, validateHorizontalPodAutoscalerUpdate } from './horizontal-pod-autoscaler.ts';

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const autoscaler = (spec: HorizontalPodAutoscalerSpec = {}) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h' },
  spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 5, ...spec },
});
const core = { apiVersion: 'v1', kind: 'X', name: 'd' };

it.each<{ name: string; spec: HorizontalPodAutoscalerSpec; errors: readonly string[] }>([
  { name: 'an autoscaler', spec: {}, errors: [] },
  {
    name: 'maxReplicas below minReplicas',
    spec: { minReplicas: 9 },
    errors: ['spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`'],
  },
  {
    name: 'a target of the core group',
    spec: { scaleTargetRef: core },
    errors: ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
  },
  { name: 'the only scalable kind of the core group', spec: { scaleTargetRef: { ...core, kind: 'ReplicationController' } }, errors: [] },
  {
    name: 'a metric source that does not match the type',
    spec: { metrics: [{ type: 'Pods', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } } }] },
    errors: ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
  },
  {
    name: 'no policy',
    spec: { behavior: { scaleUp: { policies: [] } } },
    errors: ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
  },
])('$name', ({ spec, errors }) => {
  expect(validateHorizontalPodAutoscaler(autoscaler(spec), {}).map(String)).toEqual(errors);
});

it('accepts a target kind of the stored object that new objects may not have', () => {
  expect(validateHorizontalPodAutoscalerUpdate(autoscaler({ scaleTargetRef: core }), autoscaler({ scaleTargetRef: core }), {})).toEqual([]);
});
