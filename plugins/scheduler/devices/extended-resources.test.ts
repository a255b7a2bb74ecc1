import type { Container, Pod } from 'kubenest/types/core_v1';
import type { DeviceClass } from 'kubenest/types/resource_v1';
import { describe, expect, it } from 'vitest';
import { filters } from '../filters.ts';
import { fitError } from '../fit-error.ts';
import { podInfo } from '../framework/pod-info.ts';
import { schedulePod } from '../scheduling-cycle.ts';
import { newScores } from '../scores.ts';
import { testCluster, testNode, testPod } from '../test-objects.ts';
import { classOfResource, extendedClaimFor } from './extended-resources.ts';

const gpu = 'example.com/gpu';

const deviceClass = (name: string, extendedResourceName?: string, creationTimestamp = '2026-01-01T00:00:00Z'): DeviceClass => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name, creationTimestamp },
  spec: { ...(extendedResourceName && { extendedResourceName }) },
});
const lister = (...classes: DeviceClass[]): Parameters<typeof classOfResource>[1] => ({
  get: (_, name) => classes.find(({ metadata }) => metadata.name === name),
  list: () => classes,
});

describe('class of a resource', () => {
  it.each([
    { name: 'is the one that names the resource', classes: [deviceClass('a'), deviceClass('b', gpu)], resource: gpu, want: 'b' },
    { name: 'is named by the resource', classes: [deviceClass('a')], resource: 'deviceclass.resource.kubernetes.io/a', want: 'a' },
    { name: 'is none for other resources', classes: [deviceClass('a', gpu)], resource: 'example.com/other', want: undefined },
    { name: 'is none for CPU', classes: [deviceClass('cpu', 'cpu')], resource: 'cpu', want: undefined },
    {
      name: 'is the newest',
      classes: [deviceClass('a', gpu), deviceClass('b', gpu, '2026-01-02T00:00:00Z'), deviceClass('c', gpu)],
      resource: gpu,
      want: 'b',
    },
    { name: 'is the first by name of equal age', classes: [deviceClass('b', gpu), deviceClass('a', gpu)], resource: gpu, want: 'a' },
  ])('$name', ({ classes, resource, want }) => {
    expect(classOfResource(resource, lister(...classes))?.metadata.name).toBe(want);
  });
});

describe('claim for extended resources', () => {
  const container = (name: string, requests: Record<string, string>, restartPolicy?: string): Container => ({
    name,
    resources: { requests },
    ...(restartPolicy && { restartPolicy }),
  });
  const podOf = (containers: Container[], initContainers: Container[] = []): Pod => testPod('p', { spec: { containers, initContainers } });
  const cases: { name: string; pod: Pod; requests: Record<string, number>; mappings: string[] }[] = [
    {
      name: 'has a request for each container that needs the resource',
      pod: podOf([container('a', { cpu: '1', [gpu]: '2' }), container('b', {}), container('c', { [gpu]: '1' })]),
      requests: { 'container-0-request-1': 2, 'container-2-request-0': 1 },
      mappings: ['a container-0-request-1', 'c container-2-request-0'],
    },
    {
      name: 'lets init containers use the devices of later containers',
      pod: podOf([container('main', { [gpu]: '2' })], [container('init', { [gpu]: '2' })]),
      requests: { 'container-1-request-0': 2 },
      mappings: ['main container-1-request-0', 'init container-1-request-0'],
    },
    {
      name: 'has the missing devices of the init container that needs most',
      pod: podOf([container('main', { [gpu]: '1' })], [container('x', { [gpu]: '3' }), container('y', { [gpu]: '2' })]),
      requests: { 'container-0-request-0': 2, 'container-2-request-0': 1 },
      mappings: [
        'main container-2-request-0',
        'x container-2-request-0',
        'x container-0-request-0',
        'y container-2-request-0',
        'y container-0-request-0',
      ],
    },
    {
      name: 'counts sidecars as containers',
      pod: podOf([container('main', { [gpu]: '1' })], [container('side', { [gpu]: '1' }, 'Always'), container('init', { [gpu]: '1' })]),
      requests: { 'container-0-request-0': 1, 'container-2-request-0': 1 },
      mappings: ['side container-0-request-0', 'main container-2-request-0', 'init container-2-request-0'],
    },
  ];
  it.each(cases)('$name', ({ pod, requests, mappings }) => {
    const made = extendedClaimFor(pod, new Map([[gpu, deviceClass('gpu', gpu)]]));
    const devices = made.claim.spec?.devices?.requests ?? [];
    expect(Object.fromEntries(devices.map(({ name, exactly }) => [name, exactly?.count]))).toEqual(requests);
    expect(made.mappings.map(({ containerName, requestName }) => `${containerName} ${requestName}`)).toEqual(mappings);
  });
});

describe('scheduling of extended resources', () => {
  const slice = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 's' },
    spec: {
      driver: 'd.example.com',
      nodeName: 'devices',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'a' }, { name: 'b' }],
    },
  };
  const classes = [deviceClass('gpu', gpu)];
  const place = (amount: string, deviceClasses: DeviceClass[], nodes = [testNode('devices'), testNode('none')]): string => {
    const cluster = testCluster(nodes, [], { deviceClasses, resourceSlices: [slice] });
    const pod = testPod('p', { spec: { containers: [{ name: 'c', resources: { requests: { [gpu]: amount } } }] } });
    const result = schedulePod(podInfo(pod), cluster, filters, newScores(), cluster, () => 0);
    return 'node' in result ? result.node.name : fitError(nodes.length, result.diagnosis);
  };
  it('chooses the node with devices of the class', () => expect(place('2', classes)).toBe('devices'));
  it('rejects all nodes without enough devices', () =>
    expect(place('3', classes)).toContain('0/2 nodes are available: 2 cannot allocate all claims.'));
  it('rejects all nodes without a class', () =>
    expect(place('1', [])).toContain('0/2 nodes are available: 2 Insufficient example.com/gpu.'));
  it('uses the resource of a node that has it as such', () =>
    expect(place('3', classes, [testNode('devices'), testNode('plugin', { allocatable: { [gpu]: '4' } })])).toBe('plugin'));
});
