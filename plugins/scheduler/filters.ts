import { dynamicResources } from './filters/dynamic-resources.ts';
import { interPodAffinity } from './filters/inter-pod-affinity.ts';
import { nodeAffinity } from './filters/node-affinity.ts';
import { nodeName } from './filters/node-name.ts';
import { nodePorts } from './filters/node-ports.ts';
import { nodeResourcesFit } from './filters/node-resources-fit.ts';
import { nodeUnschedulable } from './filters/node-unschedulable.ts';
import { nodeVolumeLimits } from './filters/node-volume-limits.ts';
import { podTopologySpread } from './filters/pod-topology-spread.ts';
import { taintToleration } from './filters/taint-toleration.ts';
import { volumeBinding } from './filters/volume-binding.ts';
import { volumeRestrictions } from './filters/volume-restrictions.ts';
import { volumeZone } from './filters/volume-zone.ts';
import type { Filter } from './framework/framework.ts';

/** Filters in the order in which they run. Upstream: pkg/scheduler/apis/config/v1/default_plugins.go. */
export const filters: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  dynamicResources,
];
