import type { ApiGroup } from '#apiserver/registry/api-group';
import horizontalpodautoscalersV2 from './v2/horizontalpodautoscalers.ts';
import horizontalpodautoscalersV1 from './v1/horizontalpodautoscalers.ts';

/** The API group autoscaling. */
export const autoscalingGroup: ApiGroup = {
  group: 'autoscaling',
  versions: [
    { version: 'v2', versionPriority: 30 },
    { version: 'v1', versionPriority: 15 },
  ],
  groupPriorityMinimum: 17500,
  resources: [horizontalpodautoscalersV2, horizontalpodautoscalersV1],
};
