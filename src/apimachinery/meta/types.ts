/** metav1: the metadata of all objects. Times are RFC 3339 strings, as in JSON. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: FieldsV1;
  subresource?: string;
}

/** A trie of field paths: `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`. */
export interface FieldsV1 {
  [pathElement: string]: FieldsV1;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface ListMeta {
  selfLink?: string;
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
  shardInfo?: { readonly selector: string };
}

export interface TypeMeta {
  apiVersion: string;
  kind: string;
}

/** An API object in the JSON form of its version, decoded: without unknown fields, with canonical scalars. */
export interface KubeObject extends TypeMeta {
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}
export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}
/** The response to failed requests and some others. Keys are in the order of the Go struct. */
export interface Status extends TypeMeta {
  metadata: ListMeta;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}
export interface DeleteOptions {
  apiVersion?: string;
  kind?: string;
  gracePeriodSeconds?: number;
  preconditions?: Preconditions;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  dryRun?: string[];
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** Formats `apps/v1`, or `v1` for the core group. */
export function groupVersionString({ group, version }: GroupVersion): string {
  return group ? `${group}/${version}` : version;
}

/** True if the text has the form of a group version. Upstream: apimachinery/pkg/runtime/schema/group_version.go (ParseGroupVersion). */
export function isGroupVersion(text: string): boolean {
  return text.split('/', 3).length < 3;
}

/** Parses an apiVersion; the core group is empty. */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
