import type { GroupVersionEndpoints } from '#apiserver/endpoints/installed-endpoint';

/**
 * One server of the chain Aggregator -> KubeAPIServer -> APIExtensionsServer -> NotFound. The first server with a group version
 * serves it. `onChange` reports added or removed kinds.
 */
export interface DelegationTarget {
  readonly name: string;
  /** True if its kinds change. `endpoints` is then read for each request, and the server's answer for a missing kind is final. */
  readonly isDynamic: boolean;
  /** Endpoints by `group/version`; the core group is `/v1`. */
  readonly endpoints: ReadonlyMap<string, GroupVersionEndpoints>;
}
