import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Node, Service } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointSlice } from 'kubenest/types/discovery_v1';
import { partialObject } from '../common/testing/partial-object.ts';
import { endpointKey, portsKey } from './desired-slices.ts';
import { planSlices } from './plan-slices.ts';
import { TopologyHints } from './topology-hints.ts';
import { allocationsOf, zoneShares } from './zone-allocations.ts';

const service = partialObject({
  metadata: { namespace: 'ns', name: 'web', uid: 'u', annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
}) as Service;
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];

const nodeIn = ([zone, cpu]: readonly [string, number]): Node =>
  partialObject({
    metadata: { name: `${zone}-${cpu}`, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { allocatable: { cpu: String(cpu) }, conditions: [{ type: 'Ready', status: 'True' }] },
  }) as Node;

interface State {
  readonly nodes: readonly (readonly [string, number])[];
  /** Zones and readiness of the pods, by their number. */
  readonly pods: readonly (readonly [string, boolean] | undefined)[];
}
const zone = fc.constantFrom('a', 'b', 'c');
const state: fc.Arbitrary<State> = fc.record({
  nodes: fc.array(fc.tuple(zone, fc.integer({ min: 1, max: 8 })), { maxLength: 4 }),
  pods: fc.array(fc.option(fc.tuple(zone, fc.boolean()), { nil: undefined, freq: 4 }), { maxLength: 130 }),
});

/** The slices of a service, and the controller's part that plans them. */
class Cluster {
  nodes: readonly Node[] = [];
  slices: EndpointSlice[] = [];
  #names = 0;
  readonly #hints = new TopologyHints(() => this.nodes);

  /** Reconciles once. Returns the number of slices that it changes. */
  reconcile({ nodes, pods }: State): number {
    this.nodes = nodes.map(nodeIn);
    this.#hints.nodesChanged();
    const endpoints = new Map<string, Endpoint>();
    for (const [i, pod] of pods.entries()) {
      if (!pod) continue;
      const [of, ready] = pod;
      const targetRef = { kind: 'Pod', name: `p${i}`, namespace: 'ns', uid: `p${i}` };
      endpoints.set(`p${i}`, {
        addresses: [`10.0.0.${i}`],
        conditions: { ready, serving: ready, terminating: false },
        targetRef,
        zone: of,
      });
    }
    const groups = new Map(endpoints.size > 0 ? [[portsKey(ports), { ports, endpoints: keyed(endpoints) }]] : []);
    const plan = planSlices(service, this.slices, groups, 'IPv4');
    this.#hints.apply(service, 'IPv4', this.slices, plan);
    const updated = new Map(plan.update.map((slice) => [slice.metadata.name, slice]));
    const deleted = new Set(plan.delete.map(({ metadata }) => metadata.name));
    const before = JSON.stringify(this.slices);
    this.slices = this.slices
      .filter(({ metadata }) => !deleted.has(metadata.name))
      .map((slice) => updated.get(slice.metadata.name) ?? slice)
      .concat(plan.create.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: `web-${(this.#names += 1)}` } })));
    // A write that changes nothing leads to no event.
    return JSON.stringify(this.slices) === before ? 0 : 1;
  }
}

function keyed(endpoints: ReadonlyMap<string, Endpoint>): Map<string, Endpoint> {
  return new Map([...endpoints.values()].map((endpoint) => [endpointKey(endpoint), endpoint]));
}

it('hints are complete and within the allocations, or there are none, and without a change there is no other write', () => {
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), (states) => {
      const cluster = new Cluster();
      for (const one of states) {
        cluster.reconcile(one);
        cluster.reconcile(one);
        expect(cluster.reconcile(one)).toBe(0);
        const ready = cluster.slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready);
        const hinted = ready.flatMap(({ hints }) => hints?.forZones ?? []);
        const allocations = allocationsOf(zoneShares(cluster.nodes), ready.length);
        if (typeof allocations === 'string') expect(hinted).toEqual([]);
        else {
          expect(hinted.length).toBe(ready.length);
          // As upstream, endpoints of a zone without ready nodes keep it.
          if (ready.some((endpoint) => !allocations.has(endpoint.zone ?? ''))) continue;
          const counts = Map.groupBy(hinted, ({ name = '' }) => name);
          for (const [name, { maximum }] of allocations) expect(counts.get(name)?.length ?? 0).toBeLessThanOrEqual(maximum);
        }
      }
    }),
    { numRuns: 100 },
  );
});
