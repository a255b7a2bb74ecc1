import type { Node, Service } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointSlice } from 'kubenest/types/discovery_v1';
import type { AddressType } from './desired-slices.ts';
import type { SlicePlan } from './plan-slices.ts';
import { type Allocation, allocationsOf, change, exchange, isOverloaded, wantsZones, zoneShares } from './zone-allocations.ts';

const enabled = 'TopologyAwareHintsEnabled';
const disabled = 'TopologyAwareHintsDisabled';

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
      plan.update.push(
        ...remaining(existing, plan)
          .filter(({ endpoints }) => endpoints?.some(({ hints }) => hints))
          .map(withoutHints),
      );
      for (const list of [plan.create, plan.update]) list.splice(0, list.length, ...list.map(withoutHints));
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
    const all = [...plan.create, ...plan.update, ...unchanged].flatMap(({ endpoints }) => endpoints ?? []);
    const allocations = allocationsOf(this.#currentShares(), all.filter(isReadyEndpoint).length);
    if (typeof allocations === 'string') return allocations;
    const allocated = new Map<string, number>();
    for (const slice of unchanged) if (!keep(slice, allocations, allocated)) plan.update.push(slice);
    if (
      [...plan.create, ...plan.update].some(({ endpoints }) => endpoints?.some((endpoint) => isReadyEndpoint(endpoint) && !endpoint.zone))
    )
      return 'One or more endpoints do not have a zone specified';
    const ready = [...plan.create, ...plan.update].flatMap(({ endpoints }) => (endpoints ?? []).filter(isReadyEndpoint));
    for (const { zone } of ready) change(allocated, zone as string, 1);
    const { giving, receiving } = exchange(allocations, allocated);
    const hinted = (endpoint: Endpoint): Endpoint => {
      const { hints: _, ...plain } = endpoint;
      if (!isReadyEndpoint(endpoint)) return plain;
      const zone = endpoint.zone as string;
      const [to] = (giving.get(zone) ?? 0) > 0 ? ([...receiving].find(([, count]) => count > 0) ?? []) : [];
      if (to !== undefined) {
        change(giving, zone, -1);
        change(receiving, to, -1);
        change(allocated, zone, -1);
        change(allocated, to, 1);
      }
      return { ...plain, hints: { forZones: [{ name: to ?? zone }] } };
    };
    for (const list of [plan.create, plan.update])
      list.splice(0, list.length, ...list.map((slice) => ({ ...slice, endpoints: (slice.endpoints ?? []).map(hinted) })));
    return allocated.size > 0 ? allocated : 'No hints allocated for zones';
  }
}

function remaining(existing: readonly EndpointSlice[], { update, delete: deleted }: SlicePlan): EndpointSlice[] {
  const changed = new Set([...update, ...deleted].map(({ metadata }) => metadata.name));
  return existing.filter(({ metadata }) => !changed.has(metadata.name));
}

function isReadyEndpoint({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}

function withoutHints(slice: EndpointSlice): EndpointSlice {
  return { ...slice, endpoints: (slice.endpoints ?? []).map(({ hints: _, ...plain }) => plain) };
}

/** Adds the hints of a slice to `allocated` and returns true, unless they do not suit the allocations. Upstream: getHintsByZone. */
function keep(slice: EndpointSlice, allocations: ReadonlyMap<string, Allocation>, allocated: Map<string, number>): boolean {
  const ready = (slice.endpoints ?? []).filter(isReadyEndpoint);
  if (ready.some(({ hints }) => !hints?.forZones?.length)) return false;
  const own = new Map<string, number>();
  for (const { name = '' } of ready.flatMap(({ hints }) => hints?.forZones ?? [])) change(own, name, 1);
  for (const [zone, count] of own) if (count + (allocated.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? -1)) return false;
  for (const [zone, count] of own) change(allocated, zone, count);
  return true;
}
