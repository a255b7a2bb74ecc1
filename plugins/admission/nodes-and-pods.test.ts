import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { NodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { PodResizeValidator } from './pod-resize-validator.ts';
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

const sized = (cpu: string, generation: number, nodeName = 'linux', extra: object = {}) =>
  pod({ nodeName, containers: [{ name: 'main', resources: { requests: { cpu, memory: '512Mi' } } }], ...extra }, { generation });
const resize = { subresource: 'resize', oldObject: sized('1', 1) };
admissionTable(
  PodResizeValidator,
  [
    { name: 'a resize that fits', ...resize, object: sized('2', 2) },
    {
      name: 'a resize that does not fit',
      ...resize,
      object: sized('2500m', 2),
      denied: /node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000$/,
    },
    { name: 'an update without a change of resources', ...resize, object: sized('3', 1) },
    { name: 'a pod without a node', ...resize, object: sized('3', 2, '') },
    {
      name: 'a node with another operating system',
      ...resize,
      object: sized('1', 2, 'windows'),
      denied: /only supported on linux nodes, node "windows" is "windows"/,
    },
    { name: 'a missing node', ...resize, object: sized('1', 2, 'gone'), denied: /node "gone" not found/ },
  ],
  { informers },
);

const init = (cpu: string, restartPolicy?: string) => ({
  initContainers: [{ name: 'init', restartPolicy, resources: { requests: { cpu } } }],
});
admissionTable(
  NodeDeclaredFeatureValidator,
  [
    { name: 'a container resize needs no feature', subresource: 'resize', object: sized('2', 2), oldObject: sized('1', 1) },
    {
      name: 'a pod-level resize with the feature',
      subresource: 'resize',
      object: sized('1', 2, 'linux', { resources: { limits: { cpu: '2' } } }),
      oldObject: sized('1', 1),
    },
    {
      name: 'a resize of init containers without the feature',
      subresource: 'resize',
      object: sized('1', 2, 'linux', init('2')),
      oldObject: sized('1', 1, 'linux', init('1')),
      denied: /pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "linux"/,
    },
    {
      name: 'a sidecar resize counts as a container resize',
      subresource: 'resize',
      object: sized('1', 2, 'linux', init('2', 'Always')),
      oldObject: sized('1', 1, 'linux', init('1', 'Always')),
    },
  ],
  { informers },
);
