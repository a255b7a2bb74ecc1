// The types of k8s.io/api/apidiscovery/v2beta1 for packages. Written by `npm run generate`; do not edit.
import type { GroupVersionKind, ListMeta, ObjectMeta } from './meta_v1.gen.ts';

export type DiscoveryFreshness = 'Current' | 'Stale' | (string & {});

export type ResourceScope = 'Cluster' | 'Namespaced' | (string & {});

/**
 * APIGroupDiscovery holds information about which resources are being served for all version of the API Group. It contains a list
 * of APIVersionDiscovery that holds a list of APIResourceDiscovery types served for a version. Versions are in descending order
 * of preference, with the first version being the preferred entry.
 */
export interface APIGroupDiscovery {
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
   * metadata is standard object's metadata. The only field completed will be name. For instance, resourceVersion will be empty.
   * name is the name of the API group whose discovery information is presented here. name is allowed to be "" to represent the
   * legacy, ungroupified resources. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ObjectMeta;
  /**
   * versions are the versions supported in this group. They are sorted in descending order of preference, with the preferred
   * version being the first entry.
   */
  versions?: APIVersionDiscovery[];
}

/**
 * APIGroupDiscoveryList is a resource containing a list of APIGroupDiscovery. This is one of the types able to be returned from
 * the /api and /apis endpoint and contains an aggregated list of API resources (built-ins, Custom Resource Definitions, resources
 * from aggregated servers) that a cluster supports.
 */
export interface APIGroupDiscoveryList {
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
   * ResourceVersion will not be set, because this does not have a replayable ordering among multiple apiservers. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ListMeta;
  /** items is the list of groups for discovery. The groups are listed in priority order. */
  items: APIGroupDiscovery[];
}

/** APIResourceDiscovery provides information about an API resource for discovery. */
export interface APIResourceDiscovery {
  /**
   * resource is the plural name of the resource.  This is used in the URL path and is the unique identifier for this resource
   * across all versions in the API group. Resources with non-empty groups are located at
   * /apis/<APIGroupDiscovery.objectMeta.name>/<APIVersionDiscovery.version>/<APIResourceDiscovery.Resource> Resources with empty
   * groups are located at /api/v1/<APIResourceDiscovery.Resource>
   */
  resource: string;
  /**
   * responseKind describes the group, version, and kind of the serialization schema for the object type this endpoint typically
   * returns. APIs may return other objects types at their discretion, such as error conditions, requests for alternate
   * representations, or other operation specific behavior. This value will be null or empty if an APIService reports subresources
   * but supports no operations on the parent resource
   */
  responseKind?: GroupVersionKind;
  /** scope indicates the scope of a resource, either Cluster or Namespaced */
  scope: ResourceScope;
  /**
   * singularResource is the singular name of the resource.  This allows clients to handle plural and singular opaquely. For many
   * clients the singular form of the resource will be more understandable to users reading messages and should be used when
   * integrating the name of the resource into a sentence. The command line tool kubectl, for example, allows use of the singular
   * resource name in place of plurals. The singular form of a resource should always be an optional element - when in doubt use
   * the canonical resource name.
   */
  singularResource: string;
  /**
   * verbs is a list of supported API operation types (this includes but is not limited to get, list, watch, create, update,
   * patch, delete, deletecollection, and proxy).
   */
  verbs: string[];
  /** shortNames is a list of suggested short names of the resource. */
  shortNames?: string[];
  /**
   * categories is a list of the grouped resources this resource belongs to (e.g. 'all'). Clients may use this to simplify acting
   * on multiple resource types at once.
   */
  categories?: string[];
  /**
   * subresources is a list of subresources provided by this resource. Subresources are located at
   * /apis/<APIGroupDiscovery.objectMeta.name>/<APIVersionDiscovery.version>/<APIResourceDiscovery.Resource>/name-of-instance/<APIResourceDiscovery.subresources[i].subresource>
   */
  subresources?: APISubresourceDiscovery[];
}

/** APISubresourceDiscovery provides information about an API subresource for discovery. */
export interface APISubresourceDiscovery {
  /**
   * subresource is the name of the subresource.  This is used in the URL path and is the unique identifier for this resource
   * across all versions.
   */
  subresource: string;
  /**
   * responseKind describes the group, version, and kind of the serialization schema for the object type this endpoint typically
   * returns. Some subresources do not return normal resources, these will have null or empty return types.
   */
  responseKind?: GroupVersionKind;
  /**
   * acceptedTypes describes the kinds that this endpoint accepts. Subresources may accept the standard content types or define
   * custom negotiation schemes. The list may not be exhaustive for all operations.
   */
  acceptedTypes?: GroupVersionKind[];
  /**
   * verbs is a list of supported API operation types (this includes but is not limited to get, list, watch, create, update,
   * patch, delete, deletecollection, and proxy). Subresources may define custom verbs outside the standard Kubernetes verb set.
   * Clients should expect the behavior of standard verbs to align with Kubernetes interaction conventions.
   */
  verbs: string[];
}

/** APIVersionDiscovery holds a list of APIResourceDiscovery types that are served for a particular version within an API Group. */
export interface APIVersionDiscovery {
  /** version is the name of the version within a group version. */
  version: string;
  /** resources is a list of APIResourceDiscovery objects for the corresponding group version. */
  resources?: APIResourceDiscovery[];
  /**
   * freshness marks whether a group version's discovery document is up to date. "Current" indicates the discovery document was
   * recently refreshed. "Stale" indicates the discovery document could not be retrieved and the returned discovery document may
   * be significantly out of date. Clients that require the latest version of the discovery information be retrieved before
   * performing an operation should not use the aggregated document
   */
  freshness?: DiscoveryFreshness;
}
