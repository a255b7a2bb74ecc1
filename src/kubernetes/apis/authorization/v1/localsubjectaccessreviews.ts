import { defineResource } from '#apiserver/registry/resource-definition';

export default defineResource({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'LocalSubjectAccessReview',
  resource: 'localsubjectaccessreviews',
  verbs: ['create'],
  schema: 'authorization_v1.LocalSubjectAccessReview',
});
