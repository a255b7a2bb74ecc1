import type { KubeObject } from '#apimachinery/meta/types';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { type ContributionOptions, type ContributedValue, contributedValue } from '#apiserver/base/contribution';
import type { Column, ComputedRequest, Strategy } from './resource-definition.ts';

/** A version of a resource that a package adds. */
export interface ContributedVersion {
  readonly name: string;
  /** Schema of the whole object, structural as in a CustomResourceDefinition, with defaults and CEL rules. */
  readonly schema: JsonSchemaProps;
  /** Warning sent to clients of a deprecated version, naming its replacement. */
  readonly deprecationWarning?: string;
}

/** Simple JSON paths of the fields of a Scale, such as `.spec.replicas`. */
export interface ContributedScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A subresource of some fields of an object, which clients can change only there, like a status. */
export interface ContributedFields<T extends KubeObject = KubeObject> {
  /** Names of top-level fields other than `metadata`. */
  readonly fields: readonly string[];
  readonly strategy?: Strategy<T>;
}

/** A subresource that acts on an object when it is POSTed to, like `eviction` and `token`. */
export interface ContributedAction<T extends KubeObject = KubeObject, B extends KubeObject = KubeObject> {
  /** Kind of the request and the response, in the version of the resource. */
  readonly kind: string;
  readonly schema: JsonSchemaProps;
  /** Returns the response to the request body `sent`. `parent` is the stored object; change it only through a `Client`. */
  create: { create(sent: B, parent: T, request: ComputedRequest): B | Promise<B> }['create'];
}

/**
 * A resource that a package adds. The schemas of its versions define its behaviour, and its strategy adds what schemas
 * cannot express. Objects are stored in the storage version under the key of a custom resource with the same group and name,
 * so a plugin can replace a CustomResourceDefinition and keep its objects.
 */
export interface ContributedResource<T extends KubeObject = KubeObject> {
  readonly kind: string;
  /** Plural name in the URL. */
  readonly resource: string;
  /** Singular name. Default: the kind in lower case. */
  readonly singular?: string;
  /** Kind of lists. Default: the kind followed by `List`. */
  readonly listKind?: string;
  /** True if objects are namespaced. Default: true. */
  readonly namespaced?: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Versions, the preferred one first. */
  readonly versions: readonly ContributedVersion[];
  /** Version in which objects are stored. Default: the first. */
  readonly storageVersion?: string;
  /**
   * Converts an object to the version `apiVersion`. Default: versions differ only in name. The object is a copy that may be
   * modified; changes of its metadata are discarded.
   */
  convert?(object: T, apiVersion: string): T;
  /**
   * Preparation of written objects, after defaulting and before validation, and validation beyond the schema. Objects are in
   * the version of the request; `prepareForUpdate` runs before the generation is incremented. Upstream's rules for metadata,
   * generation and status always apply.
   */
  readonly strategy?: Strategy<T>;
  /** Adds a `status` subresource, the only endpoint at which clients can change the status. */
  readonly status?: boolean | Strategy<T>;
  /** Additional subresources by name. */
  readonly subresources?: Readonly<Record<string, ContributedFields<T> | ContributedAction<T>>>;
  /**
   * Makes the resource virtual, like SubjectAccessReview: it is not stored and supports only POST, which this function
   * answers. A virtual resource has no strategy, no subresources and no other verbs.
   */
  create?(sent: T, request: ComputedRequest): T | Promise<T>;
  /**
   * Makes the resource virtual and read-only, like the metrics of pods: nothing is stored, and this function returns the current
   * objects of a namespace (empty: of all) for each LIST, and for a GET those with the name. It has no strategy, no subresources and
   * no other verbs.
   */
  read?(namespace: string, name: string | undefined): readonly T[] | Promise<readonly T[]>;
  /** Adds a `scale` subresource. */
  readonly scale?: ContributedScale;
  /** Columns of `kubectl get`. Default: name and age. */
  readonly columns?: readonly Column<T>[];
  /** JSON paths that `fieldSelector` accepts in addition to name and namespace, such as `.spec.color`. */
  readonly selectableFields?: readonly string[];
}

/** An API group that a package adds. */
export interface ContributedGroupOptions extends Omit<ContributionOptions, 'configuration'> {
  /** Group name such as `shop.example.com`; must not be a built-in group. */
  readonly group: string;
  /** Address of the approval of a group below k8s.io or kubernetes.io, which the community protects. */
  readonly approval?: string;
  readonly resources: readonly ContributedResource[];
  /** Rank of the group in discovery; higher ranks come first. Default: 1000, the rank of custom resources. */
  readonly groupPriorityMinimum?: number;
}

/** Infers the types of a resource that a package adds. */
export function contributedResource<T extends KubeObject = KubeObject>(resource: ContributedResource<T>): ContributedResource {
  // Its functions receive only objects that its own schema accepted.
  return resource as unknown as ContributedResource;
}

/**
 * Creates the contribution of an API group: `contribute(apiGroup({ name: 'Shop', group: 'shop.example.com', resources:
 * [shops] }))`.
 */
export function apiGroup(options: ContributedGroupOptions): ContributedValue {
  return contributedValue('ApiGroup', options);
}
