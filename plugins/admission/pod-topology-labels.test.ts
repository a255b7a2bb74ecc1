import { admissionTable } from 'kubenest/sdk/testing';
import { PodTopologyLabels } from './pod-topology-labels.ts';
import { object, pod } from './test-objects.ts';
import { informers, zone } from './test-nodes.ts';

admissionTable(
  PodTopologyLabels,
  [
    { name: 'a pod without a node', object: pod() },
    {
      name: 'a pod with a node',
      object: pod({ nodeName: 'linux' }),
      want: { metadata: { name: 'x', namespace: 'ns', labels: zone } },
    },
    { name: 'an unknown node', object: pod({ nodeName: 'none' }) },
    {
      name: 'a binding',
      resource: 'pods',
      subresource: 'binding',
      object: object('v1', 'Binding', { target: { kind: 'Node', name: 'linux' } }),
      want: { metadata: { name: 'x', labels: zone } },
    },
  ],
  { informers },
);
