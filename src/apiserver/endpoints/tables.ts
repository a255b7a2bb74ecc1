import type { ResourceDefinition } from '#apiserver/registry/resource-definition';

/**
 * Subresources whose storage is no TableConvertor in kube-apiserver. Upstream: kubernetes/pkg/registry (REST types without
 * ConvertToTable).
 */
const withoutTable: ReadonlySet<string> = new Set([
  '/namespaces/finalize',
  '/pods/binding',
  '/pods/ephemeralcontainers',
  '/pods/eviction',
  '/pods/log',
  '/pods/resize',
  '/serviceaccounts/token',
  'apiextensions.k8s.io/customresourcedefinitions/status',
  'apiregistration.k8s.io/apiservices/status',
  'certificates.k8s.io/certificatesigningrequests/approval',
  'resource.k8s.io/resourceclaims/status',
]);

/** True if responses can be converted to a Table, which excludes reviews and other resources that are not stored. */
export function hasTable({ group, resource, verbs, storagePath }: ResourceDefinition, subresource: string): boolean {
  if (subresource !== '') return !withoutTable.has(`${group}/${resource}/${subresource}`);
  return storagePath !== undefined || verbs.includes('list');
}
