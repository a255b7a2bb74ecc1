import { type DeviceTotal, DeviceTotals } from '../devices/device-totals.ts';
import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';

/** A resource with its weight in the score. */
export interface WeightedResource {
  readonly name: string;
  readonly weight: number;
}

/** Maps the requested amount of a resource, the pod's included, and the node's capacity to a score from 0 to 100. */
export type ResourceScore = (requested: number, capacity: number) => number;

/** Rule by which the score of a node follows from its resources. */
export interface ScoringStrategy {
  readonly resources: readonly WeightedResource[];
  readonly score: ResourceScore;
  /** Sums up the weighted scores. Default: their mean, rounded down. */
  readonly combine?: (scores: readonly (readonly [score: number, weight: number])[]) => number;
}

export const cpuAndMemory: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Upstream: plugins/noderesources/least_allocated.go. */
export const leastAllocated: ResourceScore = (requested, capacity) =>
  requested > capacity ? 0 : Math.floor(((capacity - requested) * maxNodeScore) / capacity);

/** Upstream: plugins/noderesources/most_allocated.go. */
export const mostAllocated: ResourceScore = (requested, capacity) => Math.floor((Math.min(requested, capacity) * maxNodeScore) / capacity);

/** A point of a function from utilization (0 to 100) to a score (0 to 10). */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/**
 * Returns the strategy that interpolates between points of increasing utilization. Resources with the score 0 do not count. Upstream:
 * plugins/noderesources/requested_to_capacity_ratio.go.
 */
export function requestedToCapacityRatio(resources: readonly WeightedResource[], shape: readonly ShapePoint[]): ScoringStrategy {
  const at = interpolation(shape.map(({ utilization, score }) => ({ utilization, score: score * (maxNodeScore / 10) })));
  return {
    resources,
    score: (requested, capacity) => at(requested > capacity ? 100 : Math.floor((requested * 100) / capacity)),
    combine(scores) {
      const counted = scores.filter(([score]) => score > 0);
      return counted.length === 0 ? 0 : Math.round(weightedSum(counted) / weightSum(counted));
    },
  };
}

/** Upstream: plugins/helper/shape_score.go. */
function interpolation(points: readonly ShapePoint[]): (utilization: number) => number {
  return (utilization) => {
    for (const [i, point] of points.entries()) {
      if (utilization > point.utilization) continue;
      const before = points[i - 1];
      if (!before) return point.score;
      const share = ((point.score - before.score) * (utilization - before.utilization)) / (point.utilization - before.utilization);
      return before.score + Math.trunc(share);
    }
    return points.at(-1)?.score ?? 0;
  };
}

type Weighted = readonly (readonly [score: number, weight: number])[];

const weightedSum = (scores: Weighted): number => scores.reduce((sum, [score, weight]) => sum + score * weight, 0);
const weightSum = (scores: Weighted): number => scores.reduce((sum, [, weight]) => sum + weight, 0);
const mean = (scores: Weighted): number => Math.floor(weightedSum(scores) / weightSum(scores));

/** Scores nodes by their free or used resources. Upstream: plugins/noderesources/resource_allocation.go. */
export function nodeResourcesFitScore({ resources, score, combine = mean }: ScoringStrategy): Score<DeviceTotals> {
  return {
    name: 'NodeResourcesFit',
    weight: 1,
    prepare: (_pod, cluster) => new DeviceTotals(cluster),
    score(devices, pod, node) {
      const scores: [number, number][] = [];
      for (const { name, weight } of resources) {
        const own = pod.nonZero.get(name) ?? 0;
        if (own === 0 && isExtended(name)) continue;
        const { capacity, allocated } = amountsOf(name, node, node.nonZeroRequested, devices);
        if (capacity > 0) scores.push([score(allocated + own, capacity), weight]);
      }
      return scores.length === 0 ? 0 : combine(scores);
    },
  };
}

/** Returns the capacity and the use of a resource: those of the devices that back it if the node itself does not have it. */
export function amountsOf(name: string, node: NodeInfo, requested: ReadonlyMap<string, number>, devices: DeviceTotals): DeviceTotal {
  const capacity = node.allocatable.get(name) ?? 0;
  const total = capacity === 0 && isExtended(name) ? devices.of(name, node) : undefined;
  return total ?? { capacity, allocated: requested.get(name) ?? 0 };
}

/** True for resources that count only for pods which request them. Upstream: pkg/scheduler/util (IsScalarResourceName). */
export const isExtended = (name: string): boolean => !['cpu', 'memory', 'ephemeral-storage'].includes(name);
