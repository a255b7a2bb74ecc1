/** The aggregated form of discovery. Upstream: apidiscovery/v2. */

export interface GroupVersionKindJson {
  group: string;
  version: string;
  kind: string;
}

/** A subresource in the aggregated form. */
export interface ApiSubresourceDiscovery {
  subresource: string;
  responseKind: GroupVersionKindJson;
  verbs: readonly string[];
}
/** A resource in the aggregated form. */
export interface ApiResourceDiscovery {
  resource: string;
  responseKind: GroupVersionKindJson;
  scope: 'Cluster' | 'Namespaced';
  singularResource: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  subresources?: readonly ApiSubresourceDiscovery[];
}
/** A version of a group in the aggregated form. Upstream: apidiscovery/v2. */
export interface ApiVersionDiscovery {
  version: string;
  resources?: readonly ApiResourceDiscovery[];
  freshness: 'Current' | 'Stale';
}

/** A group in the aggregated form. Upstream: apidiscovery/v2 (APIGroupDiscovery). */
export interface GroupDiscovery {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly ApiVersionDiscovery[];
}

/** The groups of one server of the cluster. */
export interface ServerDiscovery {
  readonly id: string;
  readonly groups: readonly GroupDiscovery[];
}
