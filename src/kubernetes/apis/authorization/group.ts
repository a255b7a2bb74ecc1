import type { ApiGroup } from '#apiserver/registry/api-group';
import localsubjectaccessreviews from './v1/localsubjectaccessreviews.ts';
import selfsubjectaccessreviews from './v1/selfsubjectaccessreviews.ts';
import selfsubjectrulesreviews from './v1/selfsubjectrulesreviews.ts';
import subjectaccessreviews from './v1/subjectaccessreviews.ts';

/** The API group authorization.k8s.io. */
export const authorizationGroup: ApiGroup = {
  group: 'authorization.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17600,
  resources: [localsubjectaccessreviews, selfsubjectaccessreviews, selfsubjectrulesreviews, subjectaccessreviews],
};
