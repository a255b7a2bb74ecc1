import type { ApiGroup } from '#apiserver/registry/api-group';
import selfsubjectreviews from './v1/selfsubjectreviews.ts';
import tokenreviews from './v1/tokenreviews.ts';

/** The API group authentication.k8s.io. */
export const authenticationGroup: ApiGroup = {
  group: 'authentication.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17700,
  resources: [selfsubjectreviews, tokenreviews],
};
