import { dynamicResources } from './filters/dynamic-resources.ts';
import { interPodAffinity } from './filters/inter-pod-affinity.ts';
import { nodeAffinity } from './filters/node-affinity.ts';
import { nodeName } from './filters/node-name.ts';
import { nodePorts } from './filters/node-ports.ts';
import { type IgnoredResources, nodeResourcesFit } from './filters/node-resources-fit.ts';
import { nodeUnschedulable } from './filters/node-unschedulable.ts';
import { nodeVolumeLimits } from './filters/node-volume-limits.ts';
import { podTopologySpread } from './filters/pod-topology-spread.ts';
import { taintToleration } from './filters/taint-toleration.ts';
import { volumeBinding } from './filters/volume-binding.ts';
import { volumeRestrictions } from './filters/volume-restrictions.ts';
import { volumeZone } from './filters/volume-zone.ts';
import type { NodeAffinity } from 'kubenest/types/core_v1';
import type { Filter } from './framework/framework.ts';
import type { DefaultConstraints } from './framework/spread-constraint.ts';

/** Parts of the filters that the arguments of plugins can change. */
export interface FilterArguments {
  readonly ignoredResources?: IgnoredResources;
  readonly addedAffinity?: NodeAffinity;
  readonly defaultConstraints?: DefaultConstraints;
}

/** Returns the filters in the order in which they run. Upstream: pkg/scheduler/apis/config/v1/default_plugins.go. */
export const newFilters = ({ ignoredResources, addedAffinity, defaultConstraints }: FilterArguments = {}): readonly Filter[] => [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity(addedAffinity),
  nodePorts,
  nodeResourcesFit(ignoredResources),
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread(defaultConstraints),
  interPodAffinity,
  dynamicResources,
];

/** The filters of a profile without arguments. */
export const filters = newFilters();
