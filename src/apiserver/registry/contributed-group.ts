import type { KubeObject } from '#apimachinery/meta/types';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { type ContributionOptions, type ContributedValue, contributedValue } from '#apiserver/base/contribution';
import type { Column, ComputedRequest, Strategy } from './resource-definition.ts';

/** One version of a resource that a package adds. */
export interface ContributedVersion {
  readonly name: string;
  /** Of the whole object, as a CustomResourceDefinition has it: structural, with defaults and rules in CEL. */
  readonly schema: JsonSchemaProps;
  /** Clients that use the version are warned: it is deprecated, and what to use instead. */
  readonly deprecationWarning?: string;
}

/** Where a Scale finds its parts: simple JSON paths such as `.spec.replicas`. */
export interface ContributedScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A subresource of some of an object's fields: clients change them there and nowhere else, as they do with a status. */
export interface ContributedFields<T extends KubeObject = KubeObject> {
  /** Top-level ones, besides `metadata`. */
  readonly fields: readonly string[];
  readonly strategy?: Strategy<T>;
}

/** A subresource that does something with an object when it is POSTed to, as `eviction` and `token` do. */
export interface ContributedAction<T extends KubeObject = KubeObject, B extends KubeObject = KubeObject> {
  /** Of what is sent and answered, in the version of the resource. */
  readonly kind: string;
  readonly schema: JsonSchemaProps;
  /** Makes the answer of what was sent; `parent` is the object as it is stored, which changes by a `Client` only. */
  create: { create(sent: B, parent: T, request: ComputedRequest): B | Promise<B> }['create'];
}

/**
 * A resource that a package adds. It behaves as the schemas of its versions say; what they cannot say, its strategy does.
 * Objects are stored in the storage version, at the same place as custom resources of the same group and name: what began
 * as a CustomResourceDefinition may become a plugin, and keeps its objects.
 */
export interface ContributedResource<T extends KubeObject = KubeObject> {
  readonly kind: string;
  /** The plural of the URL. */
  readonly resource: string;
  /** The kind in small letters unless named. */
  readonly singular?: string;
  /** The kind and `List` unless named. */
  readonly listKind?: string;
  /** Objects are in namespaces (the default). */
  readonly namespaced?: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** The preferred one first. */
  readonly versions: readonly ContributedVersion[];
  /** The first unless named. */
  readonly storageVersion?: string;
  /**
   * Turns an object of one version into another, whose `apiVersion` is given; without it, versions differ by name only. The
   * object is a copy that may be changed; its metadata stay what they were.
   */
  convert?(object: T, apiVersion: string): T;
  /**
   * What happens to objects that are written, after defaults and before validation, and what is wrong with those that the
   * schema finds right. Objects are in the version of the request; on update `prepareForUpdate` runs before the generation
   * is counted. Upstream's rules for metadata, generation and status hold in any case.
   */
  readonly strategy?: Strategy<T>;
  /** Gives the resource a subresource `status`: clients change it there and nowhere else. */
  readonly status?: boolean | Strategy<T>;
  /** Subresources besides, by their names. */
  readonly subresources?: Readonly<Record<string, ContributedFields<T> | ContributedAction<T>>>;
  /**
   * Makes the resource a virtual one, as SubjectAccessReview is: nothing is stored, and all that can be done is to POST; this
   * makes the answer of what was sent. It has neither strategy, subresources, nor other verbs.
   */
  create?(sent: T, request: ComputedRequest): T | Promise<T>;
  /** Gives the resource a subresource `scale`. */
  readonly scale?: ContributedScale;
  /** What `kubectl get` shows; name and age unless named. */
  readonly columns?: readonly Column<T>[];
  /** What `fieldSelector` can ask for besides name and namespace: JSON paths such as `.spec.color`. */
  readonly selectableFields?: readonly string[];
}

/** An API group that a package adds. */
export interface ContributedGroupOptions extends Omit<ContributionOptions, 'configuration'> {
  /** Such as `shop.example.com`; that of no built-in group. */
  readonly group: string;
  readonly resources: readonly ContributedResource[];
  /** The group's rank in discovery: higher comes first. 1000, as custom resources have it, unless named. */
  readonly groupPriorityMinimum?: number;
}

/** Completes the types of a resource that a package adds. */
export function contributedResource<T extends KubeObject = KubeObject>(resource: ContributedResource<T>): ContributedResource {
  // What its functions are given is what its own schema let in.
  return resource as unknown as ContributedResource;
}

/** An API group as a package contributes it: `contribute(apiGroup({ name: 'Shop', group: 'shop.example.com', resources: [shops] }))`. */
export function apiGroup(options: ContributedGroupOptions): ContributedValue {
  return contributedValue('ApiGroup', options);
}
