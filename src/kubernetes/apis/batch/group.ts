import type { ApiGroup } from '#apiserver/registry/api-group';
import cronjobs from './v1/cronjobs.ts';
import jobs from './v1/jobs.ts';

/** The API group batch. */
export const batchGroup: ApiGroup = {
  group: 'batch',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17400,
  resources: [cronjobs, jobs],
};
