import { defineResource } from '#apiserver/registry/resource-definition';

export default defineResource({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
  schema: 'authorization_v1.SubjectAccessReview',
});
