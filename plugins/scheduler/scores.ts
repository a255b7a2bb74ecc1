import type { Score } from './framework/framework.ts';
import { interPodAffinityScore } from './scores/inter-pod-affinity.ts';
import { nodeAffinityScore } from './scores/node-affinity.ts';
import { nodeResourcesBalancedAllocation } from './scores/node-resources-balanced-allocation.ts';
import { nodeResourcesLeastAllocated } from './scores/node-resources-least-allocated.ts';
import { podTopologySpreadScore } from './scores/pod-topology-spread.ts';
import { taintTolerationScore } from './scores/taint-toleration.ts';

/** Scores with upstream's weights. ImageLocality is missing, since simulated nodes have all images. */
export const scores: readonly Score[] = [
  taintTolerationScore,
  nodeAffinityScore,
  nodeResourcesLeastAllocated,
  podTopologySpreadScore,
  interPodAffinityScore,
  nodeResourcesBalancedAllocation,
];
