import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from 'kubenest/types/core_v1';
import { inHashOrder } from '../common/hash-order.ts';
import { isPodReady } from '../common/pods.ts';
import { belongsToEndpoints, hostnameOf, isHeadless, portIn } from '../common/service-endpoints.ts';

/** Addresses in one Endpoints object; slices have no such limit. */
export const maxAddresses = 1_000;

interface PodAddress {
  readonly address: EndpointAddress;
  readonly isReady: boolean;
}

/**
 * Returns the subsets of a service: ports that the same addresses offer are together, so an address may be in several subsets. Upstream:
 * endpoints_controller.go, RepackSubsets.
 *
 * Example: `a` offers the ports 80 and 53, `b` only 80: `[{ a, b: 80 }, { a: 53 }]`.
 */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const byAddresses = new Map<string, { ports: EndpointPort[]; addresses: readonly PodAddress[] }>();
  for (const { port, addresses } of addressesByPort(service, pods)) {
    const sorted = addresses.sort((a, b) => (keyOfAddress(a) < keyOfAddress(b) ? -1 : 1));
    const key = JSON.stringify(sorted);
    const subset = byAddresses.get(key) ?? { ports: [], addresses: sorted };
    byAddresses.set(key, subset);
    if (port) subset.ports.push(port);
  }
  return [...byAddresses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, addresses }]) => {
      const [ready, notReady] = [true, false].map((value) =>
        addresses.filter(({ isReady }) => isReady === value).map(({ address }) => address),
      ) as [EndpointAddress[], EndpointAddress[]];
      return {
        ...(ready.length > 0 && { addresses: ready }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady }),
        ...(ports.length > 0 && { ports: inHashOrder(ports, dumpOf) }),
      };
    });
}

/** Returns the addresses that offer each port; for a headless service without ports, all addresses without a port. */
function addressesByPort(service: Service, pods: readonly Pod[]): Iterable<{ port?: EndpointPort; addresses: PodAddress[] }> {
  const publishes = service.spec?.publishNotReadyAddresses === true;
  const hasNoPorts = (service.spec?.ports ?? []).length === 0 && isHeadless(service);
  const byPort = new Map<string, { port?: EndpointPort; addresses: PodAddress[] }>();
  for (const pod of pods) {
    const address = belongsToEndpoints(pod, publishes) ? addressOf(service, pod) : undefined;
    if (!address) continue;
    for (const port of hasNoPorts ? [undefined] : portsOf(service, pod)) {
      const key = port ? dumpOf(port) : '';
      const offered = byPort.get(key) ?? { ...(port && { port }), addresses: [] };
      byPort.set(key, offered);
      offered.addresses.push({ address, isReady: publishes || isPodReady(pod) });
    }
  }
  return byPort.values();
}

/** Returns Go's dump of the struct. Upstream: k8s.io/utils/dump.ForHash. */
function dumpOf({ name = '', port, protocol = '', appProtocol = '<nil>' }: EndpointPort): string {
  return `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`;
}

const keyOfAddress = ({ address: { ip, targetRef } }: PodAddress): string => `${ip} ${targetRef?.uid}`;

/** Returns the subsets in one order, without what may differ in equal endpoints, for comparison. */
export function comparable(subsets: readonly EndpointSubset[]): string {
  const address = ({ ip, hostname, nodeName, targetRef }: EndpointAddress): unknown[] => [
    ip,
    hostname,
    nodeName,
    targetRef?.kind,
    targetRef?.name,
    targetRef?.uid,
  ];
  const port = ({ name, port: number, protocol, appProtocol }: EndpointPort): unknown[] => [
    name ?? '',
    number,
    protocol ?? 'TCP',
    appProtocol,
  ];
  const set = (list: readonly unknown[]): string[] => list.map((one) => JSON.stringify(one)).sort();
  return JSON.stringify(
    set(
      subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
        set(addresses.map(address)),
        set(notReadyAddresses.map(address)),
        set(ports.map(port)),
      ]),
    ),
  );
}

/**
 * Shortens the subsets to `maxAddresses`, those that are ready first, each in its proportion. Returns undefined if they are short enough.
 */
export function truncated(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const count = (of: 'addresses' | 'notReadyAddresses'): number => subsets.reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0);
  const ready = count('addresses');
  const notReady = count('notReadyAddresses');
  if (ready + notReady <= maxAddresses) return undefined;
  const cutsReady = ready > maxAddresses;
  const [limit, total] = cutsReady ? [maxAddresses, ready] : [maxAddresses - ready, notReady];
  const of = cutsReady ? 'addresses' : 'notReadyAddresses';
  let left = limit;
  return subsets.map(({ notReadyAddresses, ...subset }) => {
    const list = (cutsReady ? subset.addresses : notReadyAddresses) ?? [];
    const kept = list.slice(0, Math.min(left, Math.ceil((list.length / total) * limit)));
    left -= kept.length;
    return kept.length > 0 ? { ...subset, [of]: kept } : subset;
  });
}

function portsOf(service: Service, pod: Pod): EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const number = portIn(pod, port);
    if (number === undefined) return [];
    const { name, protocol = 'TCP', appProtocol } = port;
    return [{ ...(name && { name }), port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

/** Returns the pod's address in the first family of the service; undefined if it has none. */
function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const [family] = service.spec?.ipFamilies ?? [];
  const isSix = family === undefined ? service.spec?.clusterIP?.includes(':') === true : family === 'IPv6';
  const ip = pod.status?.podIPs?.map((one) => one.ip ?? '').find((one) => one.includes(':') === isSix);
  if (!ip) return undefined;
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const hostname = hostnameOf(pod, service);
  return {
    ip,
    ...(hostname && { hostname }),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
