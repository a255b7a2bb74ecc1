import type { ApiGroup } from '#apiserver/registry/api-group';
import poddisruptionbudgets from './v1/poddisruptionbudgets.ts';

/** What policy serves. */
export const policyGroup: ApiGroup = {
  group: 'policy',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17100,
  resources: [poddisruptionbudgets],
};
