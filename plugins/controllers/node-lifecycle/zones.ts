import type { Node } from 'kubenest/types/core_v1';
import { readyCondition } from './node-health.ts';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** Upstream: --unhealthy-zone-threshold. */
const unhealthyThreshold = 0.55;
/** Upstream: --large-cluster-size-threshold. */
const largeZone = 50;
/** Time between two taints in a zone. Upstream: --node-eviction-rate (0.1 per second). */
const intervalMs = 10_000;
/** The same in a large zone that is partially disrupted. Upstream: --secondary-node-eviction-rate (0.01 per second). */
const reducedIntervalMs = 100_000;

/** Key of the zone of a node. Upstream: component-helpers/node/topology.GetZoneKey. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? '';
  const zone = labels['topology.kubernetes.io/zone'] ?? '';
  return region || zone ? `${region}:\0:${zone}` : '';
}

/** Returns the state of a zone with these nodes. Upstream: ComputeZoneState. */
export function zoneState(nodes: readonly Node[]): ZoneState {
  const notReady = nodes.filter((node) => readyCondition(node)?.status !== 'True').length;
  if (notReady > 0 && notReady === nodes.length) return 'FullDisruption';
  return notReady > 2 && notReady / nodes.length >= unhealthyThreshold ? 'PartialDisruption' : 'Normal';
}

interface Zone {
  state: ZoneState;
  size: number;
  lastTaintMs: number | undefined;
}

/** The zones of a cluster, which limit how fast nodes are tainted with the effect NoExecute. Upstream: handleDisruption. */
export class Zones {
  readonly #zones = new Map<string, Zone>();
  #isFullyDisrupted = false;

  /** True if no node is ready: then the fault is more likely on this side, and no pod is evicted. */
  get isFullyDisrupted(): boolean {
    return this.#isFullyDisrupted;
  }

  /** Takes the present nodes in. */
  observe(nodes: readonly Node[]): void {
    const counted = nodes.filter(({ metadata }) => !Object.hasOwn(metadata.labels ?? {}, 'node.kubernetes.io/exclude-disruption'));
    const byZone = Map.groupBy(counted, zoneOf);
    for (const key of [...this.#zones.keys()]) if (!byZone.has(key)) this.#zones.delete(key);
    for (const [key, members] of byZone) {
      const { lastTaintMs } = this.#zones.get(key) ?? {};
      this.#zones.set(key, { state: zoneState(members), size: members.length, lastTaintMs });
    }
    this.#isFullyDisrupted = this.#zones.size > 0 && [...this.#zones.values()].every(({ state }) => state === 'FullDisruption');
  }

  /** True if a node of the zone may be tainted now, which is then counted. */
  take(node: Node, nowMs: number): boolean {
    if (this.#isFullyDisrupted) return false;
    const zone = this.#zones.get(zoneOf(node));
    if (!zone) return true;
    const isReduced = zone.state === 'PartialDisruption';
    if (isReduced && zone.size <= largeZone) return false;
    if (nowMs - (zone.lastTaintMs ?? Number.NEGATIVE_INFINITY) < (isReduced ? reducedIntervalMs : intervalMs)) return false;
    zone.lastTaintMs = nowMs;
    return true;
  }
}
