import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';

const resources = ['cpu', 'memory'] as const;

/** Prefers nodes whose shares of used CPU and memory get closer to each other. Upstream: plugins/noderesources/balanced_allocation.go. */
export const nodeResourcesBalancedAllocation: Score<true> = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  // Otherwise a node would collect all pods without requests.
  prepare: ({ requests }) => (resources.some((name) => requests.get(name)) ? true : undefined),
  score(_, pod, node) {
    const improvement = balance(node, pod) - balance(node, undefined);
    return maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + improvement) / 2);
  },
};

/** Balance of a node, from 50 (one resource is all used and the other unused) to 100. */
function balance(node: NodeInfo, pod: PodInfo | undefined): number {
  const shares: number[] = [];
  for (const name of resources) {
    const capacity = node.allocatable.get(name) ?? 0;
    if (capacity > 0) shares.push(Math.min(1, ((node.requested.get(name) ?? 0) + (pod?.requests.get(name) ?? 0)) / capacity));
  }
  const [a = 0, b = a] = shares;
  return Math.trunc((1 - Math.abs((a - b) / 2)) * maxNodeScore);
}
