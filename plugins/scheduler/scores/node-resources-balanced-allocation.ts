import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import { isExtended } from './node-resources-fit.ts';

/**
 * Prefers nodes on which the used shares of the resources get closer to each other. Upstream:
 * plugins/noderesources/balanced_allocation.go.
 */
export function nodeResourcesBalancedAllocation(resources: readonly string[]): Score<readonly string[]> {
  return {
    name: 'NodeResourcesBalancedAllocation',
    weight: 1,
    prepare({ requests }) {
      // Otherwise a node would collect all pods without requests.
      if (!resources.some((name) => requests.get(name))) return undefined;
      return resources.filter((name) => !isExtended(name) || requests.get(name));
    },
    score(counted, pod, node) {
      const improvement = balance(counted, node, pod) - balance(counted, node, undefined);
      return maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + improvement) / 2);
    },
  };
}

/** Balance of a node, from 50 (one resource is all used and the other unused) to 100. */
function balance(resources: readonly string[], node: NodeInfo, pod: PodInfo | undefined): number {
  const shares: number[] = [];
  for (const name of resources) {
    const capacity = node.allocatable.get(name) ?? 0;
    if (capacity > 0) shares.push(Math.min(1, ((node.requested.get(name) ?? 0) + (pod?.requests.get(name) ?? 0)) / capacity));
  }
  return Math.trunc((1 - deviation(shares)) * maxNodeScore);
}

/** Standard deviation. */
function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}
