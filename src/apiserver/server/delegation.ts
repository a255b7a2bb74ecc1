import type { GroupVersionEndpoints } from '#apiserver/endpoints/installed-endpoint';

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
