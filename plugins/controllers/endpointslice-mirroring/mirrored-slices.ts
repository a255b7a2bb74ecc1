import { isIPv4, isIPv6 } from 'node:net';
import { deepEqual, newControllerReference } from 'kubenest/sdk';
import type { EndpointAddress, EndpointPort, Endpoints } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointSlice } from 'kubenest/types/discovery_v1';
import { inHashOrder } from '../common/hash-order.ts';
import { dumpPort, managedByLabel, portsKey, serviceNameLabel } from '../endpointslice/desired-slices.ts';

export const mirrorManager = 'endpointslicemirroring-controller.k8s.io';
/** Upstream: --mirroring-max-endpoints-per-subset. */
export const maxEndpoints = 1_000;
const kind = { group: '', version: 'v1', kind: 'Endpoints' } as const;
/** Annotations that slices do not repeat. */
const ownAnnotations = ['endpoints.kubernetes.io/last-change-trigger-time', 'kubectl.kubernetes.io/last-applied-configuration'];

type SlicePort = NonNullable<EndpointSlice['ports']>[number];

interface Group {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: SlicePort[];
  readonly endpoints: Endpoint[];
}

export interface MirrorPlan {
  readonly create: EndpointSlice[];
  readonly update: EndpointSlice[];
  readonly delete: EndpointSlice[];
  readonly invalidAddresses: number;
  readonly surplusAddresses: number;
}

/**
 * Plans the slices of an Endpoints object: one for each set of ports and type of address. Upstream: pkg/controller/endpointslicemirroring.
 */
export function planMirror(endpoints: Endpoints, existing: readonly EndpointSlice[]): MirrorPlan {
  const { groups, invalidAddresses, surplusAddresses } = groupsOf(endpoints);
  const plan: MirrorPlan = { create: [], update: [], delete: [], invalidAddresses, surplusAddresses };
  const byKey = Map.groupBy(existing, ({ addressType, ports }) => `${addressType} ${portsKey(ports)}`);
  for (const [key, group] of groups) {
    const [present, ...surplus] = byKey.get(key) ?? [];
    plan.delete.push(...surplus);
    const wanted = newSlice(endpoints, group);
    if (!present) plan.create.push(wanted);
    else if (!isEqual(present, wanted)) plan.update.push({ ...wanted, metadata: { ...present.metadata, ...changed(wanted, present) } });
  }
  for (const [key, slices] of byKey) if (!groups.has(key)) plan.delete.push(...slices);
  return plan;
}

function groupsOf({ subsets = [] }: Endpoints): { groups: Map<string, Group>; invalidAddresses: number; surplusAddresses: number } {
  const groups = new Map<string, Group>();
  let [invalidAddresses, surplusAddresses] = [0, 0];
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const slicePorts = inHashOrder(ports.map(slicePort), dumpPort);
    let added = 0;
    for (const [list, isReady] of [
      [addresses, true],
      [notReadyAddresses, false],
    ] as const) {
      for (const address of list) {
        const addressType = addressTypeOf(address.ip);
        if (added >= maxEndpoints) surplusAddresses++;
        else if (!addressType) invalidAddresses++;
        else {
          added++;
          const key = `${addressType} ${portsKey(slicePorts)}`;
          const group = groups.get(key) ?? { addressType, ports: slicePorts, endpoints: [] };
          groups.set(key, group);
          group.endpoints.push(endpointOf(address, isReady));
        }
      }
    }
  }
  return { groups, invalidAddresses, surplusAddresses };
}

function addressTypeOf(ip = ''): Group['addressType'] | undefined {
  if (isIPv4(ip)) return 'IPv4';
  return isIPv6(ip) ? 'IPv6' : undefined;
}

function slicePort({ name = '', port, protocol, appProtocol }: EndpointPort): SlicePort {
  return { name, ...(port !== undefined && { port }), ...(protocol && { protocol }), ...(appProtocol && { appProtocol }) };
}

function endpointOf({ ip = '', targetRef, nodeName, hostname }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(targetRef && { targetRef }),
    ...(nodeName && { nodeName }),
    ...(hostname && { hostname }),
  };
}

function newSlice(endpoints: Endpoints, { addressType, ports, endpoints: members }: Group): EndpointSlice {
  const { name = '', namespace, labels, annotations = {} } = endpoints.metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => !ownAnnotations.includes(key)));
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name}-`,
      ...(namespace && { namespace }),
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: mirrorManager },
      ...(Object.keys(kept).length > 0 && { annotations: kept }),
      ownerReferences: [newControllerReference(endpoints, kind)],
    },
    addressType,
    endpoints: members,
    ports,
  };
}

const changed = ({ metadata: { labels, annotations } }: EndpointSlice, { metadata }: EndpointSlice): object => ({
  labels,
  ...((annotations || metadata.annotations) && { annotations: annotations ?? {} }),
});

function isEqual(present: EndpointSlice, wanted: EndpointSlice): boolean {
  const sorted = ({ endpoints = [] }: EndpointSlice): string[] =>
    endpoints
      .map(({ addresses, conditions, targetRef, nodeName, hostname }) =>
        JSON.stringify([addresses, conditions?.ready, targetRef?.kind, targetRef?.name, targetRef?.uid, nodeName, hostname]),
      )
      .sort();
  return (
    deepEqual(sorted(present), sorted(wanted)) &&
    deepEqual(present.metadata.labels, wanted.metadata.labels) &&
    deepEqual(present.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})
  );
}
