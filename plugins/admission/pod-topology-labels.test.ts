import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { PodTopologyLabels } from './pod-topology-labels.ts';
import { object, pod } from './test-objects.ts';

const zone = { 'topology.kubernetes.io/zone': 'a' };
const informers = fakeInformers({
  nodes: [
    object(
      'v1',
      'Node',
      { status: { allocatable: { cpu: '2', memory: '1Gi' }, declaredFeatures: ['InPlacePodLevelResourcesVerticalScaling'] } },
      { name: 'linux', labels: { ...zone, other: 'x' } },
    ),
    object('v1', 'Node', { status: {} }, { name: 'windows', labels: { 'kubernetes.io/os': 'windows' } }),
  ],
});

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
