import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { type RuleCounts, ruleCondition } from './rule-condition.ts';

const none = { pods: 0, namespaces: 0, published: 0, allocated: 0, evicted: 0 };

it.each<{ name: string; effect: string; counts?: Partial<RuleCounts>; status?: string; reason: string; message: string }>([
  { name: 'no affected pod', effect: 'NoExecute', reason: 'NotStarted', message: '' },
  {
    name: 'one pod',
    effect: 'NoExecute',
    counts: { pods: 1, namespaces: 1 },
    status: 'True',
    reason: 'PodsPendingEviction',
    message: '1 pod needs to be evicted in 1 namespace.',
  },
  {
    name: 'several pods, and some that were evicted',
    effect: 'NoExecute',
    counts: { pods: 3, namespaces: 2, evicted: 1 },
    status: 'True',
    reason: 'PodsPendingEviction',
    message: '3 pods need to be evicted in 2 different namespaces. 1 pod evicted since starting the controller.',
  },
  {
    name: 'all pods evicted',
    effect: 'NoExecute',
    counts: { evicted: 2 },
    reason: 'Completed',
    message: '2 pods evicted since starting the controller.',
  },
  { name: 'another effect', effect: 'NoSchedule', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' },
  {
    name: 'no effect',
    effect: 'None',
    counts: { pods: 2, namespaces: 1, published: 1, allocated: 3 },
    reason: 'NoEffect',
    message:
      '1 published device selected. 3 allocated devices selected. 2 pods would be evicted in 1 namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
  },
])('reports $name', ({ effect, counts, status = 'False', reason, message }) => {
  const rule: DeviceTaintRule = partialObject({ spec: { taint: { key: 'k', effect } } });
  expect(ruleCondition(rule, { ...none, ...counts })).toEqual({ type: 'EvictionInProgress', status, reason, message });
});
