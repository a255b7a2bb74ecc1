import type { Node, Pod, PodSpec } from 'kubenest/types/core_v1';
import { Cluster, type Lister, type Listers } from './cluster.ts';

let uids = 0;

/** A node with 4 CPU, 8 GiB and 110 pods. */
export function testNode(
  name: string,
  more: { labels?: Record<string, string>; spec?: Node['spec']; allocatable?: Record<string, string> } = {},
): Node {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110', ...more.allocatable };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...more.labels } },
    ...(more.spec && { spec: more.spec }),
    status: { allocatable, capacity: allocatable },
  };
}

interface PodOptions {
  readonly labels?: Record<string, string>;
  readonly cpu?: string;
  readonly memory?: string;
  readonly spec?: PodSpec;
  readonly metadata?: object;
  readonly status?: Pod['status'];
}

/** A pod of the namespace `default` with one container. */
export function testPod(name: string, { labels = {}, cpu, memory, spec, metadata, status }: PodOptions = {}): Pod {
  const requests = { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${(uids += 1)}`, labels, ...metadata },
    spec: { schedulerName: 'default-scheduler', containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec },
    ...(status && { status }),
  };
}

function lister<T extends { metadata: { namespace?: string; name?: string } }>(objects: T[] = []): Lister<T> {
  return {
    get: (namespace, name) => objects.find(({ metadata }) => (metadata.namespace ?? '') === namespace && metadata.name === name),
    list: (namespace) => objects.filter(({ metadata }) => !namespace || metadata.namespace === namespace),
  };
}

type Objects = { [K in keyof Listers]?: ReturnType<NonNullable<Listers[K]>['list']> };

/** A cluster of the given objects; pods count on the node that they name. */
export function testCluster(nodes: readonly Node[], pods: readonly Pod[] = [], objects: Objects = {}): Cluster {
  const listers = {
    namespaces: lister(objects.namespaces),
    claims: lister(objects.claims),
    volumes: lister(objects.volumes),
    storageClasses: lister(objects.storageClasses),
    services: lister(objects.services),
    replicationControllers: lister(objects.replicationControllers),
    replicaSets: lister(objects.replicaSets),
    statefulSets: lister(objects.statefulSets),
    csiNodes: lister(objects.csiNodes),
    volumeAttachments: lister(objects.volumeAttachments),
    resourceClaims: lister(objects.resourceClaims),
    resourceSlices: lister(objects.resourceSlices),
    deviceClasses: lister(objects.deviceClasses),
    deviceTaintRules: lister(objects.deviceTaintRules),
  };
  const cluster = new Cluster(listers, () => Date.parse('2026-01-01T00:00:00Z'));
  for (const claim of objects.resourceClaims ?? []) cluster.resourceClaims.changed(claim);
  for (const node of nodes) cluster.setNode(node);
  for (const pod of pods) cluster.setPod(pod);
  return cluster;
}
