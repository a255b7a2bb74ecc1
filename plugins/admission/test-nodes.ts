import { fakeInformers } from 'kubenest/sdk/testing';
import { object, pod } from './test-objects.ts';

/** Topology labels of the node `linux`. */
export const zone = { 'topology.kubernetes.io/zone': 'a' };
/** Informers of the nodes `linux`, with two cores, and `windows`. */
export const informers = fakeInformers({
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

/** Pod on a node, whose container requests the number of cores. */
export const sized = (cpu: string, generation: number, nodeName = 'linux', extra: object = {}) =>
  pod({ nodeName, containers: [{ name: 'main', resources: { requests: { cpu, memory: '512Mi' } } }], ...extra }, { generation });
