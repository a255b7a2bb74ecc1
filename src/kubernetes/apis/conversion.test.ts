import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { horizontalPodAutoscalerConversion } from '#kubernetes/apis/autoscaling/conversion';
import { eventConversion } from '#kubernetes/apis/events/conversion';

const annotation = (name: string) => `autoscaling.alpha.kubernetes.io/${name}`;
const target = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, minReplicas: 1, maxReplicas: 5 };
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const v2 = (spec: object, status: object = {}, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'x', ...(annotations && { annotations }) },
  spec: { ...target, ...spec },
  status: { currentReplicas: 0, desiredReplicas: 0, ...status },
});
const v1 = (spec: object, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'x', ...(annotations && { annotations }) },
  spec: { ...target, ...spec },
  status: { currentReplicas: 0, desiredReplicas: 0 },
});
const behavior = {
  scaleUp: { stabilizationWindowSeconds: 5, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 2, periodSeconds: 30 }] },
};
const describedObject = { kind: 'Service', name: 's', apiVersion: 'v1' };
const metrics = [
  {
    type: 'Pods',
    pods: { metric: { name: 'm<x', selector: { matchLabels: { a: 'd', b: 'c' } } }, target: { type: 'AverageValue', averageValue: '10' } },
  },
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 }, container: 'c' },
  },
  { type: 'Object', object: { describedObject, target: { type: 'Value', value: '3' }, metric: { name: 'o' } } },
  { type: 'Object', object: { describedObject, target: { type: 'AverageValue', averageValue: '3' }, metric: { name: 'o' } } },
  { type: 'External', external: { metric: { name: 'e' }, target: { type: 'Value', value: '3' } } },
  cpu(60),
];

describe('HorizontalPodAutoscaler of autoscaling/v1', () => {
  const { fromStorage, toStorage } = horizontalPodAutoscalerConversion;

  it.each([
    { name: 'the CPU utilization', stored: v2({ metrics: [cpu(60)] }), want: v1({ targetCPUUtilizationPercentage: 60 }) },
    {
      name: 'other metrics become an annotation, as on the real server',
      stored: v2({ metrics: metrics.slice(0, 2) }),
      want: v1(
        {},
        {
          [annotation('metrics')]:
            '[{"type":"Pods","pods":{"metricName":"m\\u003cx","targetAverageValue":"10","selector":{"matchLabels":{"a":"d","b":"c"}}}},{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
        },
      ),
    },
    {
      name: 'the behavior becomes an annotation with Go field names',
      stored: v2({ metrics: [cpu(60)], behavior }, {}, { a: 'b', [annotation('behavior')]: 'old' }),
      want: v1(
        { targetCPUUtilizationPercentage: 60 },
        {
          a: 'b',
          [annotation('behavior')]:
            '{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":2,"PeriodSeconds":30}],"Tolerance":null},"ScaleDown":null}',
        },
      ),
    },
  ])('$name', ({ stored, want }) => {
    expect(fromStorage(stored)).toEqual(want);
  });

  it.each([
    { name: 'without metrics: 80 percent CPU utilization', object: v1({}), want: v2({ metrics: [cpu(80)] }) },
    {
      name: 'an annotation with malformed JSON is ignored',
      object: v1({ targetCPUUtilizationPercentage: 50 }, { [annotation('metrics')]: '{' }),
      want: v2({ metrics: [cpu(50)] }),
    },
    {
      name: 'an annotation that is not a list is ignored',
      object: v1({}, { [annotation('metrics')]: '"x"', [annotation('behavior')]: '[]' }),
      want: v2({ metrics: [cpu(80)] }),
    },
  ])('$name', ({ object, want }) => {
    expect(toStorage(object)).toEqual(want);
  });

  it('round-trips through v1 without loss', () => {
    const stored = v2(
      { metrics, behavior },
      {
        lastScaleTime: '2026-11-20T10:00:00Z',
        currentMetrics: [
          { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '7' } } },
          { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '100m', averageUtilization: 55 } } },
          { type: 'External', external: { metric: { name: 'e' }, current: { value: '4' } } },
        ],
        conditions: [
          { type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-11-20T10:00:00Z', reason: 'R', message: 'm & n' },
          { type: 'ScalingActive', status: 'True' },
        ],
      },
      { a: 'b' },
    );
    const seen = fromStorage(stored);
    expect((seen.status as { currentCPUUtilizationPercentage: number }).currentCPUUtilizationPercentage).toBe(55);
    expect(toStorage(seen)).toEqual(stored);
  });
});

it('events convert by renaming fields only', () => {
  const event: KubeObject = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'x' },
    eventTime: '2026-11-20T10:00:00.000000Z',
    reportingController: 'c',
    regarding: { kind: 'Pod' },
    note: 'n',
    deprecatedSource: { component: 's' },
    deprecatedFirstTimestamp: 'a',
    deprecatedLastTimestamp: 'b',
    deprecatedCount: 2,
    type: 'Normal',
  };
  const stored = eventConversion.toStorage(event);
  expect(stored).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'x' },
    eventTime: '2026-11-20T10:00:00.000000Z',
    reportingComponent: 'c',
    involvedObject: { kind: 'Pod' },
    message: 'n',
    source: { component: 's' },
    firstTimestamp: 'a',
    lastTimestamp: 'b',
    count: 2,
    type: 'Normal',
  });
  expect(eventConversion.fromStorage(stored)).toEqual(event);
});
