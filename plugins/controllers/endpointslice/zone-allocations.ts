import { Quantity } from 'kubenest/sdk';
import type { Node, Service } from 'kubenest/types/core_v1';

/** Label of a node with its zone. */
export const zoneLabel = 'topology.kubernetes.io/zone';
/** Part of its share of the traffic that an endpoint may get in addition. */
const overloadThreshold = 0.2;
/** Nodes with one of these labels do not count. */
const excludingLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** Annotations of a service; the first one present counts. */
const annotations = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];

/** True if an annotation of the service requests hints that spread the endpoints over the zones. */
export function wantsZones({ metadata }: Service): boolean {
  const value = annotations.map((name) => metadata.annotations?.[name]).find((text) => text !== undefined);
  return value === 'Auto' || value === 'auto';
}

/** Number of endpoints of a zone. */
export interface Allocation {
  readonly maximum: number;
  readonly desired: number;
}

/**
 * Returns the share of each zone of the CPUs of the ready nodes; undefined if a node has no zone or no CPUs, or if there are not two zones.
 * Upstream: SetNodes of k8s.io/endpointslice/topologycache.
 */
export function zoneShares(nodes: readonly Node[]): ReadonlyMap<string, number> | undefined {
  const zones = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    const labels = node.metadata.labels ?? {};
    if (excludingLabels.some((label) => labels[label] !== undefined) || !isReady(node)) continue;
    const zone = labels[zoneLabel];
    const cpus = Quantity.parse(node.status?.allocatable?.['cpu'] ?? '0').toNumber();
    if (!zone || cpus === 0) return undefined;
    zones.set(zone, (zones.get(zone) ?? 0) + cpus);
    total += cpus;
  }
  if (zones.size < 2) return undefined;
  return new Map([...zones].map(([zone, cpus]) => [zone, cpus / total]));
}

/** True if the node reports that it is ready. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

/** Returns the allocation of each zone, or the reason why there is none. Upstream: getAllocations. */
export function allocationsOf(
  shares: ReadonlyMap<string, number> | undefined,
  endpoints: number,
): ReadonlyMap<string, Allocation> | string {
  if (!shares) return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  const counts = `(${endpoints} endpoints, ${shares.size} zones)`;
  if (shares.size > endpoints) return `Insufficient number of endpoints ${counts}`;
  const minimums = new Map([...shares].map(([zone, share]) => [zone, minimumOf(share * endpoints)]));
  const spare = [...minimums.values()].reduce((left, minimum) => left - minimum, endpoints);
  if (spare < 0) return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
  return new Map(
    [...minimums].map(([zone, minimum]) => {
      const desired = Math.max((shares.get(zone) as number) * endpoints, minimum);
      return [zone, { desired, maximum: minimum + spare }];
    }),
  );
}

function minimumOf(desired: number): number {
  return Math.ceil(desired * (1 / (1 + overloadThreshold)));
}

/** Returns the numbers of endpoints that zones give to, and get from, others. Upstream: getGivingAndReceivingZones. */
export function transfersOf(
  allocations: ReadonlyMap<string, Allocation>,
  allocated: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const surplus = [...allocations].map(([zone, { desired }]) => [zone, (allocated.get(zone) ?? 0) - desired] as const);
  const tooMany = new Map(surplus.filter(([, count]) => count > 0));
  const tooFew = new Map(surplus.filter(([, count]) => count < 0).map(([zone, count]) => [zone, -count]));
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [from, give] = most(tooMany);
    const [to, take] = most(tooFew);
    if (from === '' || to === '' || (give < 1 && take < 1) || give < 0.5 || take < 0.5) return { giving, receiving };
    addTo(giving, from, 1);
    addTo(tooMany, from, -1);
    addTo(receiving, to, 1);
    addTo(tooFew, to, -1);
  }
}

/** Returns the first zone with the highest count; the empty name if no count is positive. */
function most(counts: ReadonlyMap<string, number>): readonly [zone: string, count: number] {
  let top: readonly [string, number] = ['', 0];
  for (const entry of counts) if (entry[1] > top[1]) top = entry;
  return top;
}

/** Adds to the count of a zone. */
export function addTo(counts: Map<string, number>, zone: string, by: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
}

/** True if a zone has too few endpoints for its share. Upstream: serviceOverloaded. */
export function isOverloaded(allocated: ReadonlyMap<string, number>, shares: ReadonlyMap<string, number> | undefined): boolean {
  if (allocated.size === 0) return false;
  if (!shares) return true;
  const total = [...allocated.values()].reduce((sum, count) => sum + count, 0);
  return [...shares].some(([zone, share]) => (allocated.get(zone) ?? -1) < minimumOf(total * share));
}
