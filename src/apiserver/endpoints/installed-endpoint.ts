import type { EndpointHandler, ResourceEndpoint } from './handlers/resource-endpoint.ts';

/** A resource or subresource with what may be done with it. */
export interface InstalledEndpoint {
  readonly endpoint: ResourceEndpoint;
  readonly namespaced: boolean;
  /** By verb: get, list, watch, create, update, patch, delete, deletecollection, and connect for all methods. */
  readonly verbs: ReadonlyMap<string, EndpointHandler>;
}

/** `resource`, or `resource/subresource`, to its endpoint. */
export type GroupVersionEndpoints = ReadonlyMap<string, InstalledEndpoint>;
