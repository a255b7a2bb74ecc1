import { type Filter, unschedulable } from '../framework/framework.ts';
import type { HostPort, PodInfo } from '../framework/pod-info.ts';

const any = '0.0.0.0';

/** Rejects nodes on which a host port of the pod is taken. Upstream: plugins/nodeports. */
export const nodePorts: Filter<readonly HostPort[]> = {
  name: 'NodePorts',
  events: ['NodeAdded', 'PodDeleted'],
  prepare: ({ hostPorts }) => (hostPorts.length === 0 ? 'skip' : { state: hostPorts }),
  check(wanted, _, node) {
    const isTaken = (other: PodInfo): boolean => other.hostPorts.some((used) => wanted.some((port) => conflicts(port, used)));
    return [...node.pods.values()].some(isTaken) ? unschedulable("node(s) didn't have free ports for the requested pod ports") : undefined;
  },
};

/** True if two ports cannot be open at once: the same port and protocol on the same address, or one of them on all addresses. */
function conflicts(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === any || b.ip === any);
}
