import type { ApiGroup } from '#apiserver/registry/api-group';
import poddisruptionbudgets from './v1/poddisruptionbudgets.ts';

/** The API group policy. */
export const policyGroup: ApiGroup = {
  group: 'policy',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17100,
  resources: [poddisruptionbudgets],
};
