import type { EndpointHandler, ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';

/** A resource or subresource with what may be done with it. */
export interface InstalledEndpoint {
  readonly endpoint: ResourceEndpoint;
  readonly namespaced: boolean;
  /** By verb: get, list, watch, create, update, patch, delete, deletecollection, and connect for all methods. */
  readonly verbs: ReadonlyMap<string, EndpointHandler>;
}

/** `resource`, or `resource/subresource`, to its endpoint. */
export type GroupVersionEndpoints = ReadonlyMap<string, InstalledEndpoint>;

/**
 * One server of the chain Aggregator -> KubeAPIServer -> APIExtensionsServer -> NotFound. Group versions of the first that
 * has them win. `onChange` tells when kinds come or go.
 */
export interface DelegationTarget {
  readonly name: string;
  /** Its kinds come and go: `endpoints` is read with each request, and what is not there, nobody has. */
  readonly isDynamic: boolean;
  /** By `group/version`; the core group is `/v1`. */
  readonly endpoints: ReadonlyMap<string, GroupVersionEndpoints>;
}
