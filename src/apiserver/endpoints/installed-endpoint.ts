import type { EndpointHandler, ResourceEndpoint } from './handlers/resource-endpoint.ts';

/** A resource or subresource with its verbs. */
export interface InstalledEndpoint {
  readonly endpoint: ResourceEndpoint;
  readonly namespaced: boolean;
  /** Handlers by verb: get, list, watch, create, update, patch, delete, deletecollection, and connect for all methods. */
  readonly verbs: ReadonlyMap<string, EndpointHandler>;
}

/** Endpoints by `resource` or `resource/subresource`. */
export type GroupVersionEndpoints = ReadonlyMap<string, InstalledEndpoint>;
