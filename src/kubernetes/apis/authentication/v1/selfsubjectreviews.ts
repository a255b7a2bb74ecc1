import { defineResource } from '#apiserver/registry/resource-definition';

export default defineResource({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  resource: 'selfsubjectreviews',
  namespaced: false,
  verbs: ['create'],
  schema: 'authentication_v1.SelfSubjectReview',
});
