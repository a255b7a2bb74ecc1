import { newControllerReference } from 'kubenest/sdk';
import type { Node, Pod, Service } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointPort, EndpointSlice } from 'kubenest/types/discovery_v1';
import { inHashOrder } from '../common/hash-order.ts';
import { isPodReady } from '../common/pods.ts';
import { belongsToEndpoints, hostnameOf, isHeadless, portIn } from '../common/service-endpoints.ts';
import { wantsZones, zoneLabel } from './zone-allocations.ts';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
const headlessLabel = 'service.kubernetes.io/headless';
export const manager = 'endpointslice-controller.k8s.io';

export type AddressType = 'IPv4' | 'IPv6';

/** Endpoints that offer the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  /** By a key that identifies the endpoint. */
  readonly endpoints: Map<string, Endpoint>;
}

export interface DesiredEndpoints {
  /** By `portsKey`. */
  readonly groups: Map<string, EndpointGroup>;
  /** Pods left out because their node is unknown. */
  readonly withoutNode: readonly Pod[];
}

/** Returns the address types of a service. */
export function addressTypesOf({ spec }: Service): AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is AddressType => family === 'IPv4' || family === 'IPv6');
  if (families.length > 0) return families;
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}

/** Returns the endpoints of a service, grouped by their ports. */
export function desiredEndpoints(
  service: Service,
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
  addressType: AddressType,
): DesiredEndpoints {
  const groups = new Map<string, EndpointGroup>();
  const withoutNode: Pod[] = [];
  for (const pod of pods) {
    if (!belongsToEndpoints(pod, true)) continue;
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    const node = nodeOf(pod.spec?.nodeName ?? '');
    if (!node && !service.spec?.publishNotReadyAddresses) {
      withoutNode.push(pod);
      continue;
    }
    const endpoint = endpointOf(service, pod, node, addressType);
    if (endpoint.addresses?.length) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups, withoutNode };
}

function portsOf(service: Service, pod: Pod): EndpointPort[] {
  const ports = (service.spec?.ports ?? []).flatMap((port): EndpointPort[] => {
    const number = portIn(pod, port);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
  return inHashOrder(ports, dumpPort);
}

/** Returns Go's dump of the struct. Upstream: k8s.io/endpointslice/util NewPortMapKey. */
export function dumpPort({ name, protocol, port, appProtocol }: EndpointPort): string {
  const pointer = (type: string, value: string | number = '<nil>'): string => `(*${type})${value}`;
  const fields = [`Name:${pointer('string', name)}`, `Protocol:${pointer('v1.Protocol', protocol)}`, `Port:${pointer('int32', port)}`];
  return `(v1.EndpointPort){${fields.join(' ')} AppProtocol:${pointer('string', appProtocol)}}`;
}

function endpointOf(service: Service, pod: Pod, node: Node | undefined, addressType: AddressType): Endpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const zone = node?.metadata.labels?.[zoneLabel];
  const hostname = hostnameOf(pod, service);
  const addresses = (pod.status?.podIPs ?? []).map(({ ip }) => ip ?? '').filter((ip) => ip.includes(':') === (addressType === 'IPv6'));
  const endpoint: Endpoint = {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    ...(zone && { zone }),
    ...(hostname && { hostname }),
  };
  const hints = ready ? hintsOf(service, endpoint) : undefined;
  return hints ? { ...endpoint, hints } : endpoint;
}

export function withoutHints({ hints: _, ...endpoint }: Endpoint): Endpoint {
  return endpoint;
}

/** Returns the topology hints of a ready endpoint; undefined for none. Upstream: k8s.io/endpointslice/trafficdist. */
function hintsOf(service: Service, { zone, nodeName }: Endpoint): Endpoint['hints'] | undefined {
  const distribution = wantsZones(service) ? undefined : service.spec?.trafficDistribution;
  const isClose = distribution === 'PreferClose' || distribution === 'PreferSameZone' || distribution === 'PreferSameNode';
  const forZones = isClose && zone ? [{ name: zone }] : undefined;
  const forNodes = distribution === 'PreferSameNode' && nodeName ? [{ name: nodeName }] : undefined;
  if (!forZones && !forNodes) return undefined;
  return { ...(forZones && { forZones }), ...(forNodes && { forNodes }) };
}

/** Returns a key that is equal for the same ports in any order. */
export function portsKey(ports: readonly EndpointPort[] | undefined): string {
  return (ports ?? [])
    .map(({ name, port, protocol, appProtocol }) => JSON.stringify([name ?? '', port, protocol, appProtocol]))
    .sort()
    .join();
}

/** Returns a key of what identifies an endpoint. Upstream: k8s.io/endpointslice/util hashEndpoint. */
export function endpointKey({ addresses = [], hostname, targetRef }: Endpoint): string {
  return JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name]);
}

/** Returns the labels of a service's slices: the service's own and the reserved ones. */
export function labelsFor(service: Service): Record<string, string> {
  const { [serviceNameLabel]: _name, [managedByLabel]: _manager, [headlessLabel]: _headless, ...own } = service.metadata.labels ?? {};
  return {
    ...own,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name as string,
    [managedByLabel]: manager,
  };
}

export function newSlice(service: Service, addressType: AddressType, ports: readonly EndpointPort[]): EndpointSlice {
  const { namespace = '', name = '' } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels: labelsFor(service),
      ownerReferences: [newControllerReference(service, { group: '', version: 'v1', kind: 'Service' })],
    },
    addressType,
    ports: [...ports],
    endpoints: [],
  };
}

export function isOwnedBy({ metadata }: EndpointSlice, service: Service): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
    ) ?? false
  );
}
