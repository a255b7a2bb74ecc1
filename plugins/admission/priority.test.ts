import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { Priority } from './priority.ts';
import { main, object, pod } from './test-objects.ts';

const priorities = fakeInformers({
  'priorityclasses.scheduling.k8s.io': [
    object('scheduling.k8s.io/v1', 'PriorityClass', { value: 1000 }, { name: 'high' }),
    object('scheduling.k8s.io/v1', 'PriorityClass', { value: 10, globalDefault: true, preemptionPolicy: 'Never' }, { name: 'usual' }),
  ],
});
const containers = [main];
admissionTable(
  Priority,
  [
    {
      name: 'the default class',
      object: pod(),
      want: { spec: { containers, priorityClassName: 'usual', priority: 10, preemptionPolicy: 'Never' } },
    },
    {
      name: 'an explicit class',
      object: pod({ priorityClassName: 'high' }),
      want: { spec: { containers, priorityClassName: 'high', priority: 1000, preemptionPolicy: 'PreemptLowerPriority' } },
    },
    { name: 'an unknown class', object: pod({ priorityClassName: 'none' }), denied: /no PriorityClass with name none was found/ },
    {
      name: 'a priority that differs from the class',
      object: pod({ priorityClassName: 'high', priority: 1 }),
      denied: /the integer value of priority \(1\) must not be provided/,
    },
    { name: 'an update keeps the priority', object: pod(), oldObject: pod({ priority: 10 }), want: { spec: { containers, priority: 10 } } },
    {
      name: 'a second default',
      object: object('scheduling.k8s.io/v1', 'PriorityClass', { value: 1, globalDefault: true }, { name: 'other' }),
      denied: /usual is already marked as default/,
    },
  ],
  { informers: priorities },
);

const group = (spec: object = {}, metadata: KubeObject['metadata'] = {}) =>
  object('scheduling.k8s.io/v1alpha2', 'PodGroup', { spec }, { namespace: 'ns', ...metadata });
const off = { featureGates: { enabled: () => false } };

const priorityClass = (name: string, rest: object) => object('scheduling.k8s.io/v1', 'PriorityClass', { ...rest }, { name });
const informers = fakeInformers({
  'priorityclasses.scheduling.k8s.io': [priorityClass('high', { value: 1000 }), priorityClass('usual', { value: 10, globalDefault: true })],
});
admissionTable(
  Priority,
  [
    { name: 'a group without a class', object: group(), want: { spec: { priorityClassName: 'usual', priority: 10 } } },
    {
      name: 'a group with a class',
      object: group({ priorityClassName: 'high', priority: 1000 }),
      want: { spec: { priorityClassName: 'high', priority: 1000 } },
    },
    {
      name: 'a group whose priority differs from its class',
      object: group({ priorityClassName: 'high', priority: 1 }),
      denied: /priority set in the pod group \(1\) must match the priority computed \(1000\) based on the priority class set in the spec$/,
    },
    {
      name: 'a group with a missing class',
      object: group({ priorityClassName: 'none' }),
      denied: /no PriorityClass with name none/,
    },
  ],
  { informers },
);
admissionTable(Priority, [{ name: 'a group with the feature gate disabled', object: group() }], { informers, ...off });
