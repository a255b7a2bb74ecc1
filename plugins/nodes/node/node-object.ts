import { createHash } from 'node:crypto';
import type { Node, NodeCondition, NodeStatus } from 'kubenest/types/core_v1';
import type { NodeShape } from '../options.ts';
import { timeText } from '../time.ts';
import { nodeAddress, podCidr } from './address-pool.ts';

/** Annotation of nodes that are simulated. */
export const simulatedAnnotation = 'node.kubenest.dev/simulated';

/** A node to create: its name, its number among all, and its shape. */
export interface PlannedNode {
  readonly name: string;
  readonly number: number;
  readonly zone: string | undefined;
  readonly shape: NodeShape;
}

/** Lists the nodes of the shapes; shapes with the same prefix continue each other's numbers. */
export function planNodes(shapes: readonly NodeShape[]): PlannedNode[] {
  const planned: PlannedNode[] = [];
  const counts = new Map<string, number>();
  for (const shape of shapes) {
    for (let i = 0; i < shape.count; i += 1) {
      const count = (counts.get(shape.namePrefix) ?? 0) + 1;
      counts.set(shape.namePrefix, count);
      const zone = shape.zones[i % Math.max(1, shape.zones.length)];
      planned.push({ name: `${shape.namePrefix}${count}`, number: planned.length, zone, shape });
    }
  }
  return planned;
}

const defaultCapacity = {
  cpu: '32',
  'ephemeral-storage': '1Ti',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '256Gi',
  pods: '1000',
};

/** The object of a node as its kubelet registers it, with its status. */
export function nodeObject(
  { name, number, zone, shape }: PlannedNode,
  kubeletPort: number | undefined,
  version: string,
  now: number,
): Node {
  const platform = { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' };
  const labels = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    ...platform,
    'kubernetes.io/hostname': name,
    ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }),
    ...shape.labels,
  };
  const cidr = podCidr(number);
  const capacity = { ...defaultCapacity, ...shape.capacity };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations: { [simulatedAnnotation]: 'true' } },
    spec: { podCIDR: cidr, podCIDRs: [cidr], ...(shape.taints.length > 0 && { taints: shape.taints.map((taint) => ({ ...taint })) }) },
    status: nodeStatus({ name, address: nodeAddress(number), capacity, kubeletPort, version }, undefined, now),
  };
}

export interface NodeFacts {
  readonly name: string;
  readonly address: string;
  readonly capacity: Record<string, string>;
  readonly kubeletPort: number | undefined;
  readonly version: string;
}

/**
 * Status of a ready node. The kubelet listens on the loopback interface, which is the address of the type Hostname, the first that the API
 * server looks for; the internal address is that of the simulated network.
 */
export function nodeStatus(
  { name, address, capacity, kubeletPort, version }: NodeFacts,
  old: NodeStatus | undefined,
  now: number,
): NodeStatus {
  return {
    capacity: { ...capacity },
    allocatable: { ...capacity },
    conditions: nodeConditions(old?.conditions ?? [], now),
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: kubeletPort === undefined ? name : '127.0.0.1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort ?? 0 } },
    nodeInfo: {
      machineID: digits(`machine ${name}`).replaceAll('-', ''),
      systemUUID: digits(`system ${name}`),
      bootID: digits(`boot ${name}`),
      kernelVersion: '6.12.0-simulated',
      osImage: 'Simulated Linux',
      containerRuntimeVersion: 'containerd://2.2.0',
      kubeletVersion: version,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } }],
    features: { supplementalGroupsPolicy: true },
  };
}

/** A made-up UUID that stays the same for a text. */
function digits(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** Type, status, reason and message. Upstream: kubernetes/pkg/kubelet/nodestatus/setters.go. */
const conditions = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** Conditions of a healthy node; one that had the status before keeps its transition time. */
export function nodeConditions(old: readonly NodeCondition[], now: number): NodeCondition[] {
  const time = timeText(now);
  return conditions.map(([type, status, reason, message]) => {
    const before = old.find((one) => one.type === type);
    const since = before?.status === status ? (before.lastTransitionTime ?? time) : time;
    return { type, status, lastHeartbeatTime: time, lastTransitionTime: since, reason, message };
  });
}
