// The types of k8s.io/apimachinery/pkg/apis/meta/v1. Written by `npm run generate`; do not edit.
import type { ListMeta, ObjectMeta } from '#apimachinery/meta/types';

export interface APIGroup {
  kind?: string;
  apiVersion?: string;
  name?: string;
  versions?: GroupVersionForDiscovery[];
  preferredVersion?: GroupVersionForDiscovery;
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[];
}

export interface APIGroupList {
  kind?: string;
  apiVersion?: string;
  groups?: APIGroup[];
}

export interface APIResource {
  name?: string;
  singularName?: string;
  namespaced?: boolean;
  group?: string;
  version?: string;
  kind?: string;
  verbs?: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}

export interface APIResourceList {
  kind?: string;
  apiVersion?: string;
  groupVersion?: string;
  resources?: APIResource[];
}

export interface APIVersions {
  kind?: string;
  apiVersion?: string;
  versions?: string[];
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[];
}

export interface ApplyOptions {
  kind?: string;
  apiVersion?: string;
  dryRun?: string[];
  force?: boolean;
  fieldManager?: string;
}

export interface Condition {
  type?: string;
  status?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface CreateOptions {
  kind?: string;
  apiVersion?: string;
  dryRun?: string[];
  fieldManager?: string;
  fieldValidation?: string;
}

export interface DeleteOptions {
  kind?: string;
  apiVersion?: string;
  gracePeriodSeconds?: number;
  preconditions?: Preconditions;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  dryRun?: string[];
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export interface FieldSelectorRequirement {
  key?: string;
  operator?: string;
  values?: string[];
}

export interface GetOptions {
  kind?: string;
  apiVersion?: string;
  resourceVersion?: string;
}

export interface GroupKind {
  group?: string;
  kind?: string;
}

export interface GroupResource {
  group?: string;
  resource?: string;
}

export interface GroupVersion {
  group?: string;
  version?: string;
}

export interface GroupVersionForDiscovery {
  groupVersion?: string;
  version?: string;
}

export interface GroupVersionKind {
  group?: string;
  version?: string;
  kind?: string;
}

export interface GroupVersionResource {
  group?: string;
  version?: string;
  resource?: string;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  key?: string;
  operator?: string;
  values?: string[];
}

export interface List {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: unknown[];
}

export interface ListOptions {
  kind?: string;
  apiVersion?: string;
  labelSelector?: string;
  fieldSelector?: string;
  watch?: boolean;
  allowWatchBookmarks?: boolean;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  timeoutSeconds?: number;
  limit?: number;
  continue?: string;
  sendInitialEvents?: boolean;
  shardSelector?: string;
}

export interface PartialObjectMetadata {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
}

export interface PartialObjectMetadataList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PartialObjectMetadata[];
}

export type Patch = unknown;

export interface PatchOptions {
  kind?: string;
  apiVersion?: string;
  dryRun?: string[];
  force?: boolean;
  fieldManager?: string;
  fieldValidation?: string;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export interface RootPaths {
  paths?: string[];
}

export interface ServerAddressByClientCIDR {
  clientCIDR?: string;
  serverAddress?: string;
}

export interface ShardInfo {
  selector?: string;
}

export interface Status {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  status?: string;
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
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

export interface Table {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  columnDefinitions?: TableColumnDefinition[];
  rows?: TableRow[];
}

export interface TableColumnDefinition {
  name?: string;
  type?: string;
  format?: string;
  description?: string;
  priority?: number;
}

export interface TableOptions {
  kind?: string;
  apiVersion?: string;
  includeObject?: string;
}

export interface TableRow {
  cells?: unknown[];
  conditions?: TableRowCondition[];
  object?: unknown;
}

export interface TableRowCondition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
}

export interface UpdateOptions {
  kind?: string;
  apiVersion?: string;
  dryRun?: string[];
  fieldManager?: string;
  fieldValidation?: string;
}

export interface WatchEvent {
  type?: string;
  object?: unknown;
}
