// The types of k8s.io/apimachinery/pkg/apis/meta/v1 for packages. Written by `npm run generate`; do not edit.

export type CauseType = 'FieldValueNotFound' | 'FieldValueRequired' | 'FieldValueDuplicate' | 'FieldValueInvalid' | 'FieldValueNotSupported' | 'FieldValueForbidden' | 'FieldValueTooLong' | 'FieldValueTooMany' | 'InternalError' | 'FieldValueTypeInvalid' | 'UnexpectedServerResponse' | 'FieldManagerConflict' | 'ResourceVersionTooLarge' | (string & {});

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export type DeletionPropagation = 'Orphan' | 'Background' | 'Foreground' | (string & {});

export type FieldSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export type IncludeObjectPolicy = 'None' | 'Metadata' | 'Object' | (string & {});

export type LabelSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export type ManagedFieldsOperationType = 'Apply' | 'Update' | (string & {});

export type ResourceVersionMatch = 'NotOlderThan' | 'Exact' | (string & {});

export type RowConditionType = 'Completed' | (string & {});

export type StatusReason = '' | 'Unauthorized' | 'Forbidden' | 'NotFound' | 'AlreadyExists' | 'Conflict' | 'Gone' | 'Invalid' | 'ServerTimeout' | 'StorageReadError' | 'Timeout' | 'TooManyRequests' | 'BadRequest' | 'MethodNotAllowed' | 'NotAcceptable' | 'RequestEntityTooLarge' | 'UnsupportedMediaType' | 'InternalError' | 'Expired' | 'ServiceUnavailable' | (string & {});

/** APIGroup contains the name, the supported versions, and the preferred version of a group. */
export interface APIGroup {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /** name is the name of the group. */
  name: string;
  /** versions are the versions supported in this group. */
  versions: GroupVersionForDiscovery[];
  /** preferredVersion is the version preferred by the API server, which probably is the storage version. */
  preferredVersion: GroupVersionForDiscovery;
  /**
   * a map of client CIDR to server address that is serving this group. This is to help clients reach servers in the most
   * network-efficient way possible. Clients can use the appropriate server address as per the CIDR that they match. In case of
   * multiple matches, clients should use the longest matching CIDR. The server returns only those CIDRs that it thinks that the
   * client can match. For example: the master will return an internal IP CIDR only, if the client reaches the server using an
   * internal IP. Server looks at X-Forwarded-For header or X-Real-Ip header or request.RemoteAddr (in that order) to get the
   * client IP.
   */
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[];
}

/** APIGroupList is a list of APIGroup, to allow clients to discover the API at /apis. */
export interface APIGroupList {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /** groups is a list of APIGroup. */
  groups: APIGroup[];
}

/** APIResource specifies the name of a resource and whether it is namespaced. */
export interface APIResource {
  /** name is the plural name of the resource. */
  name: string;
  /**
   * singularName is the singular name of the resource.  This allows clients to handle plural and singular opaquely. The
   * singularName is more correct for reporting status on a single item and both singular and plural are allowed from the kubectl
   * CLI interface.
   */
  singularName: string;
  /** namespaced indicates if a resource is namespaced or not. */
  namespaced: boolean;
  /**
   * group is the preferred group of the resource.  Empty implies the group of the containing resource list. For subresources,
   * this may have a different value, for example: Scale".
   */
  group?: string;
  /**
   * version is the preferred version of the resource.  Empty implies the version of the containing resource list For
   * subresources, this may have a different value, for example: v1 (while inside a v1beta1 version of the core resource's
   * group)".
   */
  version?: string;
  /** kind is the kind for the resource (e.g. 'Foo' is the kind for a resource 'foo') */
  kind: string;
  /**
   * verbs is a list of supported kube verbs (this includes get, list, watch, create, update, patch, delete, deletecollection, and
   * proxy)
   */
  verbs: string[];
  /** shortNames is a list of suggested short names of the resource. */
  shortNames?: string[];
  /** categories is a list of the grouped resources this resource belongs to (e.g. 'all') */
  categories?: string[];
  /**
   * The hash value of the storage version, the version this resource is converted to when written to the data store. Value must
   * be treated as opaque by clients. Only equality comparison on the value is valid. This is an alpha feature and may change or
   * be removed in the future. The field is populated by the apiserver only if the StorageVersionHash feature gate is enabled.
   * This field will remain optional even if it graduates.
   */
  storageVersionHash?: string;
}

/**
 * APIResourceList is a list of APIResource, it is used to expose the name of the resources supported in a specific group and
 * version, and if the resource is namespaced.
 */
export interface APIResourceList {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /** groupVersion is the group and version this APIResourceList is for. */
  groupVersion: string;
  /** resources contains the name of the resources and if they are namespaced. */
  resources: APIResource[];
}

/**
 * APIVersions lists the versions that are available, to allow clients to discover the API at /api, which is the root path of the
 * legacy v1 API.
 */
export interface APIVersions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /** versions are the api versions that are available. */
  versions: string[];
  /**
   * a map of client CIDR to server address that is serving this group. This is to help clients reach servers in the most
   * network-efficient way possible. Clients can use the appropriate server address as per the CIDR that they match. In case of
   * multiple matches, clients should use the longest matching CIDR. The server returns only those CIDRs that it thinks that the
   * client can match. For example: the master will return an internal IP CIDR only, if the client reaches the server using an
   * internal IP. Server looks at X-Forwarded-For header or X-Real-Ip header or request.RemoteAddr (in that order) to get the
   * client IP.
   */
  serverAddressByClientCIDRs: ServerAddressByClientCIDR[];
}

/**
 * ApplyOptions may be provided when applying an API object. FieldManager is required for apply requests. ApplyOptions is
 * equivalent to PatchOptions. It is provided as a convenience with documentation that speaks specifically to how the options
 * fields relate to apply.
 */
export interface ApplyOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result
   * in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed
   */
  dryRun?: string[];
  /** Force is going to "force" Apply requests. It means user will re-acquire conflicting fields owned by other people. */
  force: boolean;
  /**
   * fieldManager is a name associated with the actor or entity that is making these changes. The value must be less than or 128
   * characters long, and only contain printable characters, as defined by https://golang.org/pkg/unicode/#IsPrint. This field is
   * required.
   */
  fieldManager: string;
}

/** Condition contains details for one aspect of the current state of this API Resource. */
export interface Condition {
  /** type of condition in CamelCase or in foo.example.com/CamelCase. */
  type: string;
  /** status of the condition, one of True, False, Unknown. */
  status: ConditionStatus;
  /**
   * observedGeneration represents the .metadata.generation that the condition was set based upon. For instance, if
   * .metadata.generation is currently 12, but the .status.conditions[x].observedGeneration is 9, the condition is out of date
   * with respect to the current state of the instance.
   */
  observedGeneration?: number;
  /**
   * lastTransitionTime is the last time the condition transitioned from one status to another. This should be when the underlying
   * condition changed.  If that is not known, then using the time when the API field changed is acceptable.
   */
  lastTransitionTime: string;
  /**
   * reason contains a programmatic identifier indicating the reason for the condition's last transition. Producers of specific
   * condition types may define expected values and meanings for this field, and whether the values are considered a guaranteed
   * API. The value should be a CamelCase string. This field may not be empty.
   */
  reason: string;
  /** message is a human readable message indicating details about the transition. This may be an empty string. */
  message: string;
}

/** CreateOptions may be provided when creating an API object. */
export interface CreateOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result
   * in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed
   */
  dryRun?: string[];
  /**
   * fieldManager is a name associated with the actor or entity that is making these changes. The value must be less than or 128
   * characters long, and only contain printable characters, as defined by https://golang.org/pkg/unicode/#IsPrint.
   */
  fieldManager?: string;
  /**
   * fieldValidation instructs the server on how to handle objects in the request (POST/PUT/PATCH) containing unknown or duplicate
   * fields. Valid values are: - Ignore: This will ignore any unknown fields that are silently dropped from the object, and will
   * ignore all but the last duplicate field that the decoder encounters. This is the default behavior prior to v1.23. - Warn:
   * This will send a warning via the standard warning response header for each unknown field that is dropped from the object, and
   * for each duplicate field that is encountered. The request will still succeed if there are no other errors, and will only
   * persist the last of any duplicate fields. This is the default in v1.23+ - Strict: This will fail the request with a
   * BadRequest error if any unknown fields would be dropped from the object, or if any duplicate fields are present. The error
   * returned from the server will contain all unknown and duplicate fields encountered.
   */
  fieldValidation?: string;
}

/** DeleteOptions may be provided when deleting an API object. */
export interface DeleteOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * The duration in seconds before the object should be deleted. Value must be non-negative integer. The value zero indicates
   * delete immediately. If this value is nil, the default grace period for the specified type will be used. Defaults to a per
   * object value if not specified. zero means delete immediately.
   */
  gracePeriodSeconds?: number;
  /** Must be fulfilled before a deletion is carried out. If not possible, a 409 Conflict status will be returned. */
  preconditions?: Preconditions;
  /**
   * Deprecated: please use the PropagationPolicy, this field will be deprecated in 1.7. Should the dependent objects be orphaned.
   * If true/false, the "orphan" finalizer will be added to/removed from the object's finalizers list. Either this field or
   * PropagationPolicy may be set, but not both.
   */
  orphanDependents?: boolean;
  /**
   * Whether and how garbage collection will be performed. Either this field or OrphanDependents may be set, but not both. The
   * default policy is decided by the existing finalizer set in the metadata.finalizers and the resource-specific default policy.
   * Acceptable values are: 'Orphan' - orphan the dependents; 'Background' - allow the garbage collector to delete the dependents
   * in the background; 'Foreground' - a cascading policy that deletes all dependents in the foreground.
   */
  propagationPolicy?: DeletionPropagation;
  /**
   * When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result
   * in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed
   */
  dryRun?: string[];
  /**
   * if set to true, it will trigger an unsafe deletion of the resource in case the normal deletion flow fails with a corrupt
   * object error. A resource is considered corrupt if it can not be retrieved from the underlying storage successfully because of
   * a) its data can not be transformed e.g. decryption failure, or b) it fails to decode into an object. NOTE: unsafe deletion
   * ignores finalizer constraints, skips precondition checks, and removes the object from the storage. WARNING: This may
   * potentially break the cluster if the workload associated with the resource being unsafe-deleted relies on normal deletion
   * flow. Use only if you REALLY know what you are doing. The default value is false, and the user must opt in to enable it
   */
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** FieldSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and values. */
export interface FieldSelectorRequirement {
  /** key is the field selector key that the requirement applies to. */
  key: string;
  /**
   * operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists, DoesNotExist. The list of
   * operators may grow in the future.
   */
  operator: FieldSelectorOperator;
  /**
   * values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is
   * Exists or DoesNotExist, the values array must be empty.
   */
  values?: string[];
}

/**
 * FieldsV1 stores a set of fields in a data structure like a Trie, in JSON format.
 *
 * Each key is either a '.' representing the field itself, and will always map to an empty set, or a string representing a
 * sub-field or item. The string will follow one of these four formats: 'f:<name>', where <name> is the name of a field in a
 * struct, or key in a map 'v:<value>', where <value> is the exact json formatted value of a list item 'i:<index>', where <index>
 * is position of a item in a list 'k:<keys>', where <keys> is a map of  a list item's key fields to their unique values If a key
 * maps to an empty Fields value, the field that key represents is part of the set.
 *
 * The exact format is defined in sigs.k8s.io/structured-merge-diff
 */
export type FieldsV1 = { [pathElement: string]: FieldsV1 };

/** GetOptions is the standard query options to the standard REST get call. */
export interface GetOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * resourceVersion sets a constraint on what resource versions a request may be served from. See
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions for details.
   *
   * Defaults to unset
   */
  resourceVersion?: string;
}

/**
 * GroupKind specifies a Group and a Kind, but does not force a version.  This is useful for identifying concepts during lookup
 * stages without having partially valid types
 */
export interface GroupKind {
  group: string;
  kind: string;
}

/**
 * GroupResource specifies a Group and a Resource, but does not force a version.  This is useful for identifying concepts during
 * lookup stages without having partially valid types
 */
export interface GroupResource {
  group: string;
  resource: string;
}

/** GroupVersion contains the "group" and the "version", which uniquely identifies the API. */
export interface GroupVersion {
  group: string;
  version: string;
}

/** GroupVersion contains the "group/version" and "version" string of a version. It is made a struct to keep extensibility. */
export interface GroupVersionForDiscovery {
  /** groupVersion specifies the API group and version in the form "group/version" */
  groupVersion: string;
  /**
   * version specifies the version in the form of "version". This is to save the clients the trouble of splitting the
   * GroupVersion.
   */
  version: string;
}

/**
 * GroupVersionKind unambiguously identifies a kind.  It doesn't anonymously include GroupVersion to avoid automatic coercion.  It
 * doesn't use a GroupVersion to avoid custom marshalling
 */
export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/**
 * GroupVersionResource unambiguously identifies a resource.  It doesn't anonymously include GroupVersion to avoid automatic
 * coercion.  It doesn't use a GroupVersion to avoid custom marshalling
 */
export interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}

/**
 * A label selector is a label query over a set of resources. The result of matchLabels and matchExpressions are ANDed. An empty
 * label selector matches all objects. A null label selector matches no objects.
 */
export interface LabelSelector {
  /**
   * matchLabels is a map of {key,value} pairs. A single {key,value} in the matchLabels map is equivalent to an element of
   * matchExpressions, whose key field is "key", the operator is "In", and the values array contains only "value". The
   * requirements are ANDed.
   */
  matchLabels?: Record<string, string>;
  /** matchExpressions is a list of label selector requirements. The requirements are ANDed. */
  matchExpressions?: LabelSelectorRequirement[];
}

/** A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values. */
export interface LabelSelectorRequirement {
  /** key is the label key that the selector applies to. */
  key: string;
  /** operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists and DoesNotExist. */
  operator: LabelSelectorOperator;
  /**
   * values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is
   * Exists or DoesNotExist, the values array must be empty. This array is replaced during a strategic merge patch.
   */
  values?: string[];
}

/** List holds a list of objects, which may not be known by the server. */
export interface List {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * Standard list metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  metadata?: ListMeta;
  /** List of objects */
  items: unknown[];
}

/**
 * ListMeta describes metadata that synthetic resources must have, including lists and various status objects. A resource may have
 * only one of {ObjectMeta, ListMeta}.
 */
export interface ListMeta {
  /** Deprecated: selfLink is a legacy read-only field that is no longer populated by the system. */
  selfLink?: string;
  /**
   * String that identifies the server's internal version of this object that can be used by clients to determine when objects
   * have changed. Value must be treated as opaque by clients and passed unmodified back to the server. Populated by the system.
   * Read-only. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#concurrency-control-and-consistency
   */
  resourceVersion?: string;
  /**
   * continue may be set if the user set a limit on the number of items returned, and indicates that the server has more data
   * available. The value is opaque and may be used to issue another request to the endpoint that served this list to retrieve the
   * next set of available objects. Continuing a consistent list may not be possible if the server configuration has changed or
   * more than a few minutes have passed. The resourceVersion field returned when using this continue value will be identical to
   * the value in the first response, unless you have received this token from an error message.
   */
  continue?: string;
  /**
   * remainingItemCount is the number of subsequent items in the list which are not included in this list response. If the list
   * request contained label or field selectors, then the number of remaining items is unknown and the field will be left unset
   * and omitted during serialization. If the list is complete (either because it is not chunking or because this is the last
   * chunk), then there are no more remaining items and this field will be left unset and omitted during serialization. Servers
   * older than v1.15 do not set this field. The intended use of the remainingItemCount is *estimating* the size of a collection.
   * Clients should not rely on the remainingItemCount to be set or to be exact.
   */
  remainingItemCount?: number;
  /**
   * shardInfo is set when the list is a filtered subset of the full collection, as selected by a shard selector on the request.
   * It echoes back the selector so clients can verify which shard they received and merge sharded responses. Clients should not
   * cache sharded list responses as a full representation of the collection.
   *
   * This is an alpha field and requires enabling the ShardedListAndWatch feature gate.
   */
  shardInfo?: ShardInfo;
}

/** ListOptions is the query options to a standard REST list call. */
export interface ListOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /** A selector to restrict the list of returned objects by their labels. Defaults to everything. */
  labelSelector?: string;
  /** A selector to restrict the list of returned objects by their fields. Defaults to everything. */
  fieldSelector?: string;
  /**
   * Watch for changes to the described resources and return them as a stream of add, update, and remove notifications. Specify
   * resourceVersion.
   */
  watch?: boolean;
  /**
   * allowWatchBookmarks requests watch events with type "BOOKMARK". Servers that do not implement bookmarks may ignore this flag
   * and bookmarks are sent at the server's discretion. Clients should not assume bookmarks are returned at any specific interval,
   * nor may they assume the server will send any BOOKMARK event during a session. If this is not a watch, this field is ignored.
   */
  allowWatchBookmarks?: boolean;
  /**
   * resourceVersion sets a constraint on what resource versions a request may be served from. See
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions for details.
   *
   * Defaults to unset
   */
  resourceVersion?: string;
  /**
   * resourceVersionMatch determines how resourceVersion is applied to list calls. It is highly recommended that
   * resourceVersionMatch be set for list calls where resourceVersion is set See
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions for details.
   *
   * Defaults to unset
   */
  resourceVersionMatch?: ResourceVersionMatch;
  /** Timeout for the list/watch call. This limits the duration of the call, regardless of any activity or inactivity. */
  timeoutSeconds?: number;
  /**
   * limit is a maximum number of responses to return for a list call. If more items exist, the server will set the `continue`
   * field on the list metadata to a value that can be used with the same initial query to retrieve the next set of results.
   * Setting a limit may return fewer than the requested amount of items (up to zero items) in the event all requested objects are
   * filtered out and clients should only use the presence of the continue field to determine whether more results are available.
   * Servers may choose not to support the limit argument and will return all of the available results. If limit is specified and
   * the continue field is empty, clients may assume that no more results are available. This field is not supported if watch is
   * true.
   *
   * The server guarantees that the objects returned when using continue will be identical to issuing a single list call without a
   * limit - that is, no objects created, modified, or deleted after the first request is issued will be included in any
   * subsequent continued requests. This is sometimes referred to as a consistent snapshot, and ensures that a client that is
   * using limit to receive smaller chunks of a very large result can ensure they see all possible objects. If objects are updated
   * during a chunked list the version of the object that was present at the time the first list result was calculated is
   * returned.
   */
  limit?: number;
  /**
   * The continue option should be set when retrieving more results from the server. Since this value is server defined, clients
   * may only use the continue value from a previous query result with identical query parameters (except for the value of
   * continue) and the server may reject a continue value it does not recognize. If the specified continue value is no longer
   * valid whether due to expiration (generally five to fifteen minutes) or a configuration change on the server, the server will
   * respond with a 410 ResourceExpired error together with a continue token. If the client needs a consistent list, it must
   * restart their list without the continue field. Otherwise, the client may send another list request with the token received
   * with the 410 error, the server will respond with a list starting from the next key, but from the latest snapshot, which is
   * inconsistent from the previous list results - objects that are created, modified, or deleted after the first list request
   * will be included in the response, as long as their keys are after the "next key".
   *
   * This field is not supported when watch is true. Clients may start a watch from the last resourceVersion value returned by the
   * server and not miss any modifications.
   */
  continue?: string;
  /**
   * `sendInitialEvents=true` may be set together with `watch=true`. In that case, the watch stream will begin with synthetic
   * events to produce the current state of objects in the collection. Once all such events have been sent, a synthetic "Bookmark"
   * event  will be sent. The bookmark will report the ResourceVersion (RV) corresponding to the set of objects, and be marked
   * with `"k8s.io/initial-events-end": "true"` annotation. Afterwards, the watch stream will proceed as usual, sending watch
   * events corresponding to changes (subsequent to the RV) to objects watched.
   *
   * When `sendInitialEvents` option is set, we require `resourceVersionMatch` option to also be set. The semantic of the watch
   * request is as following: - `resourceVersionMatch` = NotOlderThan
   *   is interpreted as "data at least as new as the provided `resourceVersion`"
   *   and the bookmark event is send when the state is synced
   *   to a `resourceVersion` at least as fresh as the one provided by the ListOptions.
   *   If `resourceVersion` is unset, this is interpreted as "consistent read" and the
   *   bookmark event is send when the state is synced at least to the moment
   *   when request started being processed.
   * - `resourceVersionMatch` set to any other value or unset
   *   Invalid error is returned.
   *
   * Defaults to true if `resourceVersion=""` or `resourceVersion="0"` (for backward compatibility reasons) and to false
   * otherwise.
   */
  sendInitialEvents?: boolean;
  /**
   * shardSelector restricts the list of returned objects using a CEL-based shard selector expression. The format uses the
   * shardRange() function combined with || (logical OR) to specify one or more hash ranges:
   *
   *   shardRange(object.metadata.uid, '0x0', '0x8000000000000000')
   *   shardRange(object.metadata.uid, '0x0', '0x8000000000000000') || shardRange(object.metadata.uid, '0x8000000000000000',
   * '0x10000000000000000')
   *
   * Field paths use CEL-style object-rooted syntax (e.g. "object.metadata.uid"), NOT the fieldSelector format ("metadata.uid").
   * Currently supported paths:
   *   - object.metadata.uid
   *   - object.metadata.namespace
   *
   * hexStart and hexEnd are single-quoted CEL string literals with a '0x' prefix, defining the inclusive lower and exclusive
   * upper bounds over the 64-bit FNV-1a hash space. The full range is [0x0, 0x10000000000000000), where the exclusive upper bound
   * equals 2^64.
   *
   * Examples:
   *   2-shard split:
   *     shard 0: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
   *     shard 1: shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')
   *   4-shard split:
   *     shard 0: shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000')
   *     shard 1: shardRange(object.metadata.uid, '0x4000000000000000', '0x8000000000000000')
   *     shard 2: shardRange(object.metadata.uid, '0x8000000000000000', '0xc000000000000000')
   *     shard 3: shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')
   *
   * This is an alpha field and requires enabling the ShardedListAndWatch feature gate.
   */
  shardSelector?: string;
}

/** ManagedFieldsEntry is a workflow-id, a FieldSet and the group version of the resource that the fieldset applies to. */
export interface ManagedFieldsEntry {
  /** Manager is an identifier of the workflow managing these fields. */
  manager?: string;
  /**
   * Operation is the type of operation which lead to this ManagedFieldsEntry being created. The only valid values for this field
   * are 'Apply' and 'Update'.
   */
  operation?: ManagedFieldsOperationType;
  /**
   * APIVersion defines the version of this resource that this field set applies to. The format is "group/version" just like the
   * top-level APIVersion field. It is necessary to track the version of a field set because it cannot be automatically converted.
   */
  apiVersion?: string;
  /**
   * Time is the timestamp of when the ManagedFields entry was added. The timestamp will also be updated if a field is added, the
   * manager changes any of the owned fields value or removes a field. The timestamp does not update when a field is removed from
   * the entry because another manager took it over.
   */
  time?: string;
  /**
   * FieldsType is the discriminator for the different fields format and version. There is currently only one possible value:
   * "FieldsV1"
   */
  fieldsType?: string;
  /** FieldsV1 holds the first JSON version format as described in the "FieldsV1" type. */
  fieldsV1?: FieldsV1;
  /**
   * Subresource is the name of the subresource used to update that object, or empty string if the object was updated through the
   * main resource. The value of this field is used to distinguish between managers, even if they share the same name. For
   * example, a status update will be distinct from a regular update using the same manager name. Note that the APIVersion field
   * is not related to the Subresource field and it always corresponds to the version of the main resource.
   */
  subresource?: string;
}

/** ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create. */
export interface ObjectMeta {
  /**
   * Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to
   * request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and
   * configuration definition. Cannot be updated. More info:
   * https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names
   */
  name?: string;
  /**
   * GenerateName is an optional prefix, used by the server, to generate a unique name ONLY IF the Name field has not been
   * provided. If this field is used, the name returned to the client will be different than the name passed. This value will also
   * be combined with a unique suffix. The provided value has the same validation rules as the Name field, and may be truncated by
   * the length of the suffix required to make the value unique on the server.
   *
   * If this field is specified and the generated name exists, the server will return a 409.
   *
   * Applied only if Name is not specified. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#idempotency
   */
  generateName?: string;
  /**
   * Namespace defines the space within which each name must be unique. An empty namespace is equivalent to the "default"
   * namespace, but "default" is the canonical representation. Not all objects are required to be scoped to a namespace - the
   * value of this field for those objects will be empty.
   *
   * Must be a DNS_LABEL. Cannot be updated. More info:
   * https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces
   */
  namespace?: string;
  /** Deprecated: selfLink is a legacy read-only field that is no longer populated by the system. */
  selfLink?: string;
  /**
   * UID is the unique in time and space value for this object. It is typically generated by the server on successful creation of
   * a resource and is not allowed to change on PUT operations.
   *
   * Populated by the system. Read-only. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids
   */
  uid?: string;
  /**
   * An opaque value that represents the internal version of this object that can be used by clients to determine when objects
   * have changed. May be used for optimistic concurrency, change detection, and the watch operation on a resource or set of
   * resources. Clients must treat these values as opaque and passed unmodified back to the server. They may only be valid for a
   * particular resource or set of resources.
   *
   * Populated by the system. Read-only. Value must be treated as opaque by clients and . More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#concurrency-control-and-consistency
   */
  resourceVersion?: string;
  /** A sequence number representing a specific generation of the desired state. Populated by the system. Read-only. */
  generation?: number;
  /**
   * CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in
   * happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in
   * UTC.
   *
   * Populated by the system. Read-only. Null for lists. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  creationTimestamp?: string;
  /**
   * DeletionTimestamp is RFC 3339 date and time at which this resource will be deleted. This field is set by the server when a
   * graceful deletion is requested by the user, and is not directly settable by a client. The resource is expected to be deleted
   * (no longer visible from resource lists, and not reachable by name) after the time in this field, once the finalizers list is
   * empty. As long as the finalizers list contains items, deletion is blocked. Once the deletionTimestamp is set, this value may
   * not be unset or be set further into the future, although it may be shortened or the resource may be deleted prior to this
   * time. For example, a user may request that a pod is deleted in 30 seconds. The Kubelet will react by sending a graceful
   * termination signal to the containers in the pod. After that 30 seconds, the Kubelet will send a hard termination signal
   * (SIGKILL) to the container and after cleanup, remove the pod from the API. In the presence of network partitions, this object
   * may still exist after this timestamp, until an administrator or automated process can determine the resource is fully
   * terminated. If not set, graceful deletion of the object has not been requested.
   *
   * Populated by the system when a graceful deletion is requested. Read-only. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  deletionTimestamp?: string;
  /**
   * Number of seconds allowed for this object to gracefully terminate before it will be removed from the system. Only set when
   * deletionTimestamp is also set. May only be shortened. Read-only.
   */
  deletionGracePeriodSeconds?: number;
  /**
   * Map of string keys and values that can be used to organize and categorize (scope and select) objects. May match selectors of
   * replication controllers and services. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels
   */
  labels?: Record<string, string>;
  /**
   * Annotations is an unstructured key value map stored with a resource that may be set by external tools to store and retrieve
   * arbitrary metadata. They are not queryable and should be preserved when modifying objects. More info:
   * https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations
   */
  annotations?: Record<string, string>;
  /**
   * List of objects depended by this object. If ALL objects in the list have been deleted, this object will be garbage collected.
   * If this object is managed by a controller, then an entry in this list will point to this controller, with the controller
   * field set to true. There cannot be more than one managing controller.
   */
  ownerReferences?: OwnerReference[];
  /**
   * Must be empty before the object is deleted from the registry. Each entry is an identifier for the responsible component that
   * will remove the entry from the list. If the deletionTimestamp of the object is non-nil, entries in this list can only be
   * removed. Finalizers may be processed and removed in any order.  Order is NOT enforced because it introduces significant risk
   * of stuck finalizers. finalizers is a shared field, any actor with permission can reorder it. If the finalizer list is
   * processed in order, then this can lead to a situation in which the component responsible for the first finalizer in the list
   * is waiting for a signal (field value, external system, or other) produced by a component responsible for a finalizer later in
   * the list, resulting in a deadlock. Without enforced ordering finalizers are free to order amongst themselves and are not
   * vulnerable to ordering changes in the list.
   */
  finalizers?: string[];
  /**
   * ManagedFields maps workflow-id and version to the set of fields that are managed by that workflow. This is mostly for
   * internal housekeeping, and users typically shouldn't need to set or understand this field. A workflow can be the user's name,
   * a controller's name, or the name of a specific apply path like "ci-cd". The set of fields is always in the version that the
   * workflow used when modifying the object.
   */
  managedFields?: ManagedFieldsEntry[];
}

/**
 * OwnerReference contains enough information to let you identify an owning object. An owning object must be in the same namespace
 * as the dependent, or be cluster-scoped, so there is no namespace field.
 */
export interface OwnerReference {
  /** API version of the referent. */
  apiVersion: string;
  /**
   * Kind of the referent. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: string;
  /** Name of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names */
  name: string;
  /** UID of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids */
  uid: string;
  /** If true, this reference points to the managing controller. */
  controller?: boolean;
  /**
   * If true, AND if the owner has the "foregroundDeletion" finalizer, then the owner cannot be deleted from the key-value store
   * until this reference is removed. See https://kubernetes.io/docs/concepts/architecture/garbage-collection/#foreground-deletion
   * for how the garbage collector interacts with this field and enforces the foreground deletion. Defaults to false. To set this
   * field, a user needs "delete" permission of the owner, otherwise 422 (Unprocessable Entity) will be returned.
   */
  blockOwnerDeletion?: boolean;
}

/**
 * PartialObjectMetadata is a generic representation of any object with ObjectMeta. It allows clients to get access to a
 * particular ObjectMeta schema without knowing the details of the version.
 */
export interface PartialObjectMetadata {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * Standard object's metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ObjectMeta;
}

/** PartialObjectMetadataList contains a list of objects containing only their metadata */
export interface PartialObjectMetadataList {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * Standard list metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  metadata?: ListMeta;
  /** items contains each of the included items. */
  items: PartialObjectMetadata[];
}

/** Patch is provided to give a concrete name and type to the Kubernetes PATCH request body. */
export type Patch = unknown;

/** PatchOptions may be provided when patching an API object. PatchOptions is meant to be a superset of UpdateOptions. */
export interface PatchOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result
   * in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed
   */
  dryRun?: string[];
  /**
   * Force is going to "force" Apply requests. It means user will re-acquire conflicting fields owned by other people. Force flag
   * must be unset for non-apply patch requests.
   */
  force?: boolean;
  /**
   * fieldManager is a name associated with the actor or entity that is making these changes. The value must be less than or 128
   * characters long, and only contain printable characters, as defined by https://golang.org/pkg/unicode/#IsPrint. This field is
   * required for apply requests (application/apply-patch) but optional for non-apply patch types (JsonPatch, MergePatch,
   * StrategicMergePatch).
   */
  fieldManager?: string;
  /**
   * fieldValidation instructs the server on how to handle objects in the request (POST/PUT/PATCH) containing unknown or duplicate
   * fields. Valid values are: - Ignore: This will ignore any unknown fields that are silently dropped from the object, and will
   * ignore all but the last duplicate field that the decoder encounters. This is the default behavior prior to v1.23. - Warn:
   * This will send a warning via the standard warning response header for each unknown field that is dropped from the object, and
   * for each duplicate field that is encountered. The request will still succeed if there are no other errors, and will only
   * persist the last of any duplicate fields. This is the default in v1.23+ - Strict: This will fail the request with a
   * BadRequest error if any unknown fields would be dropped from the object, or if any duplicate fields are present. The error
   * returned from the server will contain all unknown and duplicate fields encountered.
   */
  fieldValidation?: string;
}

/** Preconditions must be fulfilled before an operation (update, delete, etc.) is carried out. */
export interface Preconditions {
  /** Specifies the target UID. */
  uid?: string;
  /** Specifies the target ResourceVersion */
  resourceVersion?: string;
}

/** RootPaths lists the paths available at root. For example: "/healthz", "/apis". */
export interface RootPaths {
  /** paths are the paths available at root. */
  paths: string[];
}

/**
 * ServerAddressByClientCIDR helps the client to determine the server address that they should use, depending on the clientCIDR
 * that they match.
 */
export interface ServerAddressByClientCIDR {
  /** The CIDR with which clients can match their IP to figure out the server address that they should use. */
  clientCIDR: string;
  /**
   * Address of this server, suitable for a client that matches the above CIDR. This can be a hostname, hostname:port, IP or
   * IP:port.
   */
  serverAddress: string;
}

/**
 * ShardInfo describes the shard selector that was applied to produce a list response. Its presence on a list response indicates
 * the list is a filtered subset.
 */
export interface ShardInfo {
  /**
   * selector is the shard selector string from the request, echoed back so clients can verify which shard they received and merge
   * responses from multiple shards.
   */
  selector: string;
}

/** Status is a return value for calls that don't return other objects. */
export type Status = {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: 'Status';
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion: 'v1';
  /**
   * Standard list metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  metadata: ListMeta;
  /**
   * Status of the operation. One of: "Success" or "Failure". More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
   */
  status?: string;
  /** A human-readable description of the status of this operation. */
  message?: string;
  /**
   * A machine-readable description of why this operation is in the "Failure" status. If this value is empty there is no
   * information available. A Reason clarifies an HTTP status code but does not override it.
   */
  reason?: StatusReason;
  /**
   * Extended data associated with the reason.  Each reason may define its own extended details. This field is optional and the
   * data returned is not guaranteed to conform to any schema except that defined by the reason type.
   */
  details?: StatusDetails;
  /** Suggested HTTP return code for this status, 0 if not set. */
  code?: number;
};

/** StatusCause provides more information about an api.Status failure, including cases when multiple errors are encountered. */
export interface StatusCause {
  /** A machine-readable description of the cause of the error. If this value is empty there is no information available. */
  reason?: CauseType;
  /** A human-readable description of the cause of the error.  This field may be presented as-is to a reader. */
  message?: string;
  /**
   * The field of the resource that has caused this error, as named by its JSON serialization. May include dot and postfix
   * notation for nested attributes. Arrays are zero-indexed.  Fields may appear more than once in an array of causes due to
   * fields having multiple errors. Optional.
   *
   * Examples:
   *   "name" - the field "name" on the current resource
   *   "items[0].name" - the field "name" on the first array entry in "items"
   */
  field?: string;
}

/**
 * StatusDetails is a set of additional properties that MAY be set by the server to provide additional information about a
 * response. The Reason field of a Status object defines what attributes will be set. Clients must ignore fields that do not match
 * the defined type of each attribute, and should assume that any attribute may be empty, invalid, or under defined.
 */
export interface StatusDetails {
  /**
   * The name attribute of the resource associated with the status StatusReason (when there is a single name which can be
   * described).
   */
  name?: string;
  /** The group attribute of the resource associated with the status StatusReason. */
  group?: string;
  /**
   * The kind attribute of the resource associated with the status StatusReason. On some operations may differ from the requested
   * resource Kind. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * UID of the resource. (when there is a single resource which can be described). More info:
   * https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids
   */
  uid?: string;
  /**
   * The Causes array includes more details associated with the StatusReason failure. Not all StatusReasons may provide detailed
   * causes.
   */
  causes?: StatusCause[];
  /**
   * If specified, the time in seconds before the operation should be retried. Some errors may indicate the client must take an
   * alternate action - for those errors this field may indicate how long to wait before taking the alternate action.
   */
  retryAfterSeconds?: number;
}

/**
 * Table is a tabular representation of a set of API resources. The server transforms the object into a set of preferred columns
 * for quickly reviewing the objects.
 */
export interface Table {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * Standard list metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  metadata?: ListMeta;
  /**
   * columnDefinitions describes each column in the returned items array. The number of cells per row will always match the number
   * of column definitions.
   */
  columnDefinitions: TableColumnDefinition[];
  /** rows is the list of items in the table. */
  rows: TableRow[];
}

/** TableColumnDefinition contains information about a column returned in the Table. */
export interface TableColumnDefinition {
  /** name is a human readable name for the column. */
  name: string;
  /**
   * type is an OpenAPI type definition for this column, such as number, integer, string, or array. See
   * https://github.com/OAI/OpenAPI-Specification/blob/master/versions/2.0.md#data-types for more.
   */
  type: string;
  /**
   * format is an optional OpenAPI type modifier for this column. A format modifies the type and imposes additional rules, like
   * date or time formatting for a string. The 'name' format is applied to the primary identifier column which has type 'string'
   * to assist in clients identifying column is the resource name. See
   * https://github.com/OAI/OpenAPI-Specification/blob/master/versions/2.0.md#data-types for more.
   */
  format: string;
  /** description is a human readable description of this column. */
  description: string;
  /**
   * priority is an integer defining the relative importance of this column compared to others. Lower numbers are considered
   * higher priority. Columns that may be omitted in limited space scenarios should be given a higher priority.
   */
  priority: number;
}

/** TableOptions are used when a Table is requested by the caller. */
export interface TableOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * includeObject decides whether to include each object along with its columnar information. Specifying "None" will return no
   * object, specifying "Object" will return the full object contents, and specifying "Metadata" (the default) will return the
   * object's metadata in the PartialObjectMetadata kind in version v1beta1 of the meta.k8s.io API group.
   */
  includeObject?: IncludeObjectPolicy;
}

/** TableRow is an individual row in a table. */
export interface TableRow {
  /**
   * cells will be as wide as the column definitions array and may contain strings, numbers (float64 or int64), booleans, simple
   * maps, lists, or null. See the type field of the column definition for a more detailed description.
   */
  cells: unknown[];
  /**
   * conditions describe additional status of a row that are relevant for a human user. These conditions apply to the row, not to
   * the object, and will be specific to table output. The only defined condition type is 'Completed', for a row that indicates a
   * resource that has run to completion and can be given less visual priority.
   */
  conditions?: TableRowCondition[];
  /**
   * This field contains the requested additional information about each object based on the includeObject policy when requesting
   * the Table. If "None", this field is empty, if "Object" this will be the default serialization of the object for the current
   * API version, and if "Metadata" (the default) will contain the object metadata. Check the returned kind and apiVersion of the
   * object before parsing. The media type of the object will always match the enclosing list - if this as a JSON table, these
   * will be JSON encoded objects.
   */
  object?: unknown;
}

/** TableRowCondition allows a row to be marked with additional information. */
export interface TableRowCondition {
  /**
   * Type of row condition. The only defined value is 'Completed' indicating that the object this row represents has reached a
   * completed state and may be given less visual priority than other rows. Clients are not required to honor any conditions but
   * should be consistent where possible about handling the conditions.
   */
  type: RowConditionType;
  /** Status of the condition, one of True, False, Unknown. */
  status: ConditionStatus;
  /** (brief) machine readable reason for the condition's last transition. */
  reason?: string;
  /** Human readable message indicating details about last transition. */
  message?: string;
}

/** UpdateOptions may be provided when updating an API object. All fields in UpdateOptions should also be present in PatchOptions. */
export interface UpdateOptions {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind?: string;
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion?: string;
  /**
   * When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result
   * in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed
   */
  dryRun?: string[];
  /**
   * fieldManager is a name associated with the actor or entity that is making these changes. The value must be less than or 128
   * characters long, and only contain printable characters, as defined by https://golang.org/pkg/unicode/#IsPrint.
   */
  fieldManager?: string;
  /**
   * fieldValidation instructs the server on how to handle objects in the request (POST/PUT/PATCH) containing unknown or duplicate
   * fields. Valid values are: - Ignore: This will ignore any unknown fields that are silently dropped from the object, and will
   * ignore all but the last duplicate field that the decoder encounters. This is the default behavior prior to v1.23. - Warn:
   * This will send a warning via the standard warning response header for each unknown field that is dropped from the object, and
   * for each duplicate field that is encountered. The request will still succeed if there are no other errors, and will only
   * persist the last of any duplicate fields. This is the default in v1.23+ - Strict: This will fail the request with a
   * BadRequest error if any unknown fields would be dropped from the object, or if any duplicate fields are present. The error
   * returned from the server will contain all unknown and duplicate fields encountered.
   */
  fieldValidation?: string;
}

/** Event represents a single event to a watched resource. */
export interface WatchEvent {
  type: string;
  /**
   * Object is:
   *  * If Type is Added or Modified: the new state of the object.
   *  * If Type is Deleted: the state of the object immediately before deletion.
   *  * If Type is Error: *Status is recommended; other types may make sense
   *    depending on context.
   */
  object: unknown;
}
