import type { ApiGroup } from '#apiserver/registry/api-group';
import events from './v1/events.ts';

/** What events.k8s.io serves. */
export const eventsGroup: ApiGroup = {
  group: 'events.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17750,
  resources: [events],
};
