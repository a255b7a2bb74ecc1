import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from 'kubenest/types/core_v1';
import { isPodReady } from '../common/pods.ts';
import { belongsToEndpoints, hostnameOf, isHeadless, portIn } from '../common/service-endpoints.ts';

/** Addresses in one Endpoints object; slices have no such limit. */
export const maxAddresses = 1_000;

/** Returns the subsets of a service: addresses that offer the same ports are together. Upstream: endpoints_controller.go, RepackSubsets. */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const publishes = service.spec?.publishNotReadyAddresses === true;
  const subsets = new Map<string, { ports: EndpointPort[]; ready: EndpointAddress[]; notReady: EndpointAddress[] }>();
  for (const pod of pods) {
    const address = belongsToEndpoints(pod, publishes) ? addressOf(service, pod) : undefined;
    if (!address) continue;
    const ports = portsOf(service, pod);
    if (ports.length === 0 && !((service.spec?.ports ?? []).length === 0 && isHeadless(service))) continue;
    const key = JSON.stringify(ports);
    const subset = subsets.get(key) ?? { ports, ready: [], notReady: [] };
    subsets.set(key, subset);
    (publishes || isPodReady(pod) ? subset.ready : subset.notReady).push(address);
  }
  return [...subsets]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, notReady }]) => ({
      ...(ready.length > 0 && { addresses: sorted(ready) }),
      ...(notReady.length > 0 && { notReadyAddresses: sorted(notReady) }),
      ...(ports.length > 0 && { ports }),
    }));
}

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

/** Shortens the subsets to `maxAddresses`, those that are ready first, each in its proportion. Returns undefined if they are short enough. */
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

function sorted(addresses: EndpointAddress[]): EndpointAddress[] {
  return addresses.sort((a, b) => (`${a.ip} ${a.targetRef?.uid}` < `${b.ip} ${b.targetRef?.uid}` ? -1 : 1));
}
