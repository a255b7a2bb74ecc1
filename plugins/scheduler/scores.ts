import type { NodeAffinity } from 'kubenest/types/core_v1';
import type { Score } from './framework/framework.ts';
import type { DefaultConstraints } from './framework/spread-constraint.ts';
import { dynamicResourcesScore } from './scores/dynamic-resources.ts';
import { interPodAffinityScore } from './scores/inter-pod-affinity.ts';
import { nodeAffinityScore } from './scores/node-affinity.ts';
import { nodeResourcesBalancedAllocation } from './scores/node-resources-balanced-allocation.ts';
import { cpuAndMemory, leastAllocated, nodeResourcesFitScore, type ScoringStrategy } from './scores/node-resources-fit.ts';
import { podTopologySpreadScore } from './scores/pod-topology-spread.ts';
import { taintTolerationScore } from './scores/taint-toleration.ts';

/** Parts of the scores that the arguments of plugins can change. */
export interface ScoreArguments {
  readonly scoringStrategy?: ScoringStrategy;
  readonly balancedResources?: readonly string[];
  readonly hardPodAffinityWeight?: number;
  readonly addedAffinity?: NodeAffinity;
  readonly defaultConstraints?: DefaultConstraints;
}

/**
 * Returns the scores with upstream's weights. ImageLocality is missing, since simulated nodes have all images. Upstream:
 * pkg/scheduler/apis/config/v1/default_plugins.go.
 */
export function newScores({
  scoringStrategy = { resources: cpuAndMemory, score: leastAllocated },
  balancedResources = ['cpu', 'memory'],
  hardPodAffinityWeight = 1,
  addedAffinity,
  defaultConstraints,
}: ScoreArguments = {}): readonly Score[] {
  return [
    taintTolerationScore,
    nodeAffinityScore(addedAffinity),
    nodeResourcesFitScore(scoringStrategy),
    podTopologySpreadScore(defaultConstraints),
    interPodAffinityScore(hardPodAffinityWeight),
    dynamicResourcesScore,
    nodeResourcesBalancedAllocation(balancedResources),
  ];
}
