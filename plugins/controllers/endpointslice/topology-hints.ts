import type { Node, Service } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointSlice } from 'kubenest/types/discovery_v1';
import { type AddressType, withoutHints } from './desired-slices.ts';
import type { SlicePlan } from './plan-slices.ts';
import { addTo, type Allocation, allocationsOf, isOverloaded, transfersOf, wantsZones, zoneShares } from './zone-allocations.ts';

const enabled = 'TopologyAwareHintsEnabled';
const disabled = 'TopologyAwareHintsDisabled';

/** An event of a service whose hints start or end. */
export interface HintsEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * Gives endpoints to zones in proportion to the CPUs of their nodes, for services with the annotation
 * `service.kubernetes.io/topology-mode: Auto`. Upstream: k8s.io/endpointslice/topologycache.
 */
export class TopologyHints {
  /** Numbers of endpoints by zone, by address type and by service (NAMESPACE/NAME). */
  readonly #allocated = new Map<string, Map<AddressType, ReadonlyMap<string, number>>>();
  #shares: ReadonlyMap<string, number> | undefined;
  #isCurrent = false;

  constructor(private readonly nodes: () => readonly Node[]) {}

  /** Returns the services that need other hints, after a node has changed. */
  nodesChanged(): string[] {
    this.#isCurrent = false;
    if (this.#allocated.size === 0) return [];
    const shares = this.#currentShares();
    return [...this.#allocated].flatMap(([key, types]) => ([...types.values()].some((zones) => isOverloaded(zones, shares)) ? [key] : []));
  }

  /** Forgets a service that is deleted, or has no hints. */
  forget(key: string): void {
    this.#allocated.delete(key);
  }

  /** Changes the hints of the planned slices, and of the existing ones that remain. Returns the events of the service. */
  apply(service: Service, addressType: AddressType, existing: readonly EndpointSlice[], plan: SlicePlan): readonly HintsEvent[] {
    const key = `${service.metadata.namespace}/${service.metadata.name}`;
    const event = (type: HintsEvent['type'], reason: string, message: string): HintsEvent[] => [
      { type, reason, message: `${message}, addressType: ${addressType}` },
    ];
    const wasEnabled = this.#allocated.has(key);
    if (!wantsZones(service)) {
      this.forget(key);
      return wasEnabled ? event('Warning', disabled, 'Topology Aware Hints has been disabled') : [];
    }
    const zones = this.#spread(plan, remaining(existing, plan));
    if (typeof zones === 'string') {
      this.#allocated.get(key)?.delete(addressType);
      if (this.#allocated.get(key)?.size === 0) this.forget(key);
      plan.update.push(...remaining(existing, plan).filter(({ endpoints }) => endpoints?.some(({ hints }) => hints)));
      changeEndpoints(plan, withoutHints);
      return event('Warning', disabled, zones);
    }
    const types = this.#allocated.get(key) ?? new Map<AddressType, ReadonlyMap<string, number>>();
    this.#allocated.set(key, types.set(addressType, zones));
    return wasEnabled ? [] : event('Normal', enabled, 'Topology Aware Hints has been enabled');
  }

  #currentShares(): ReadonlyMap<string, number> | undefined {
    if (!this.#isCurrent) this.#shares = zoneShares(this.nodes());
    this.#isCurrent = true;
    return this.#shares;
  }

  /** Sets the hints of the plan. Returns the endpoints of each zone, or the reason why there are no hints. */
  #spread(plan: SlicePlan, unchanged: readonly EndpointSlice[]): ReadonlyMap<string, number> | string {
    const count = [...planned(plan), ...unchanged].flatMap(readyEndpoints).length;
    const allocations = allocationsOf(this.#currentShares(), count);
    if (typeof allocations === 'string') return allocations;
    const allocated = new Map<string, number>();
    for (const slice of unchanged) if (!keep(slice, allocations, allocated)) plan.update.push(slice);
    const ready = planned(plan).flatMap(readyEndpoints);
    if (ready.some(({ zone }) => !zone)) return 'One or more endpoints do not have a zone specified';
    for (const { zone } of ready) addTo(allocated, zone as string, 1);
    const { giving, receiving } = transfersOf(allocations, allocated);
    /** Returns the zone that the next endpoint of a zone serves. */
    const servedBy = (zone: string): string => {
      const [to] = (giving.get(zone) ?? 0) > 0 ? ([...receiving].find(([, missing]) => missing > 0) ?? []) : [];
      if (to === undefined) return zone;
      for (const counts of [giving, allocated]) addTo(counts, zone, -1);
      addTo(receiving, to, -1);
      addTo(allocated, to, 1);
      return to;
    };
    changeEndpoints(plan, (endpoint) => {
      const plain = withoutHints(endpoint);
      return isReadyEndpoint(endpoint) ? { ...plain, hints: { forZones: [{ name: servedBy(endpoint.zone as string) }] } } : plain;
    });
    return allocated.size > 0 ? allocated : 'No hints allocated for zones';
  }
}

/** Returns the slices that the plan writes. */
function planned({ create, update }: SlicePlan): EndpointSlice[] {
  return [...create, ...update];
}

/** Changes all endpoints that the plan writes. */
function changeEndpoints({ create, update }: SlicePlan, change: (endpoint: Endpoint) => Endpoint): void {
  for (const list of [create, update])
    list.splice(0, list.length, ...list.map((slice) => ({ ...slice, endpoints: (slice.endpoints ?? []).map(change) })));
}

/** Returns the existing slices that the plan leaves as they are. */
function remaining(existing: readonly EndpointSlice[], { update, delete: deleted }: SlicePlan): EndpointSlice[] {
  const changed = new Set([...update, ...deleted].map(({ metadata }) => metadata.name));
  return existing.filter(({ metadata }) => !changed.has(metadata.name));
}

function isReadyEndpoint({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}

function readyEndpoints({ endpoints }: EndpointSlice): Endpoint[] {
  return (endpoints ?? []).filter(isReadyEndpoint);
}

/** Adds the hints of a slice to `allocated` and returns true, unless they do not suit the allocations. Upstream: getHintsByZone. */
function keep(slice: EndpointSlice, allocations: ReadonlyMap<string, Allocation>, allocated: Map<string, number>): boolean {
  const ready = readyEndpoints(slice);
  if (ready.some(({ hints }) => !hints?.forZones?.length)) return false;
  const own = new Map<string, number>();
  for (const { name = '' } of ready.flatMap(({ hints }) => hints?.forZones ?? [])) addTo(own, name, 1);
  for (const [zone, count] of own) if (count + (allocated.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? -1)) return false;
  for (const [zone, count] of own) addTo(allocated, zone, count);
  return true;
}
