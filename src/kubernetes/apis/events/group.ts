import type { ApiGroup } from '#apiserver/registry/api-group';
import events from './v1/events.ts';

/** The API group events.k8s.io. */
export const eventsGroup: ApiGroup = {
  group: 'events.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17750,
  resources: [events],
};
