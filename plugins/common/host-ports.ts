import type { Pod } from 'kubenest/types/core_v1';

/** A port of the host. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const any = '0.0.0.0';

/** Lists the host ports of a pod. Upstream: pkg/scheduler/util (GetHostPorts). */
export function hostPortsOf({ spec = {} }: Pod): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ hostIP, protocol = 'TCP', hostPort = 0 }) => ({ ip: hostIP || any, protocol, port: hostPort })),
  );
}

/** True if two ports cannot be open at once: the same port and protocol on the same address, or one of them on all addresses. */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === any || b.ip === any);
}

/** Reason of the scheduler and of the kubelet for a node on which a host port is taken. Upstream: plugins/nodeports. */
export const portsTaken = "node(s) didn't have free ports for the requested pod ports";
