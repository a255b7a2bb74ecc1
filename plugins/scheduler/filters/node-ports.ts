import { type HostPort, portsConflict, portsTaken } from '../../common/host-ports.ts';
import { type Filter, unschedulable } from '../framework/framework.ts';
import type { PodInfo } from '../framework/pod-info.ts';

/** Rejects nodes on which a host port of the pod is taken. Upstream: plugins/nodeports. */
export const nodePorts: Filter<readonly HostPort[]> = {
  name: 'NodePorts',
  events: ['NodeAdded', 'PodDeleted'],
  prepare: ({ hostPorts }) => (hostPorts.length === 0 ? 'skip' : { state: hostPorts }),
  check(wanted, _, node) {
    const isTaken = (other: PodInfo): boolean => other.hostPorts.some((used) => wanted.some((port) => portsConflict(port, used)));
    return [...node.pods.values()].some(isTaken) ? unschedulable(portsTaken) : undefined;
  },
};
