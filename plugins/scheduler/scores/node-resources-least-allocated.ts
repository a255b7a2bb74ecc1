import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';

const resources = ['cpu', 'memory'] as const;

/** Prefers nodes with much free CPU and memory. Upstream: plugins/noderesources/least_allocated.go. */
export const nodeResourcesLeastAllocated: Score<true> = {
  name: 'NodeResourcesFit',
  weight: 1,
  prepare: () => true,
  score(_, pod: PodInfo, node: NodeInfo) {
    let sum = 0;
    let count = 0;
    for (const name of resources) {
      const capacity = node.allocatable.get(name) ?? 0;
      if (capacity === 0) continue;
      const requested = (node.nonZeroRequested.get(name) ?? 0) + (pod.nonZero.get(name) ?? 0);
      sum += requested > capacity ? 0 : Math.floor(((capacity - requested) * maxNodeScore) / capacity);
      count += 1;
    }
    return count === 0 ? 0 : Math.floor(sum / count);
  },
};
