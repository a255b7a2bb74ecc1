import { DeviceTotals } from '../devices/device-totals.ts';
import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import { amountsOf, isExtended } from './node-resources-fit.ts';

/** The resources that count for a pod, and the devices that back some of them. */
interface Counted {
  readonly resources: readonly string[];
  readonly devices: DeviceTotals;
}

/**
 * Prefers nodes on which the used shares of the resources get closer to each other. Upstream:
 * plugins/noderesources/balanced_allocation.go.
 */
export function nodeResourcesBalancedAllocation(resources: readonly string[]): Score<Counted> {
  return {
    name: 'NodeResourcesBalancedAllocation',
    weight: 1,
    prepare({ requests }, cluster) {
      // Otherwise a node would collect all pods without requests.
      if (!resources.some((name) => requests.get(name))) return undefined;
      const counted = resources.filter((name) => !isExtended(name) || requests.get(name));
      return { resources: counted, devices: new DeviceTotals(cluster) };
    },
    score(counted, pod, node) {
      const improvement = balance(counted, node, pod) - balance(counted, node, undefined);
      return maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + improvement) / 2);
    },
  };
}

/** Balance of a node, from 50 (one resource is all used and the other unused) to 100. */
function balance({ resources, devices }: Counted, node: NodeInfo, pod: PodInfo | undefined): number {
  const shares: number[] = [];
  for (const name of resources) {
    const { capacity, allocated } = amountsOf(name, node, node.requested, devices);
    if (capacity > 0) shares.push(Math.min(1, (allocated + (pod?.requests.get(name) ?? 0)) / capacity));
  }
  return Math.trunc((1 - deviation(shares)) * maxNodeScore);
}

/** Standard deviation. */
function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}
