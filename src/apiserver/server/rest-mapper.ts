import type { GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { DelegationTarget } from './delegation.ts';

export interface RestMapping {
  readonly resource: GroupVersionResource;
  readonly namespaced: boolean;
}

/** Finds the resources of kinds, custom ones among them. Upstream: apimachinery/pkg/api/meta (RESTMapper). */
export interface RestMapper {
  /** Empty for a kind that is not served in this version. */
  resourcesOf(kind: GroupVersionKind): readonly RestMapping[];
}

export const RestMapper = Symbol.for('kubenest.RestMapper');

/** By the endpoints that are installed now. */
export class EndpointMapper implements RestMapper {
  constructor(readonly targets: readonly DelegationTarget[]) {}

  resourcesOf({ group, version, kind }: GroupVersionKind): RestMapping[] {
    return this.targets.flatMap(({ endpoints }) =>
      [...(endpoints.get(`${group}/${version}`) ?? [])]
        .filter(([path, { endpoint }]) => !path.includes('/') && endpoint.kind.kind === kind)
        .map(([resource, { namespaced }]) => ({ resource: { group, version, resource }, namespaced })),
    );
  }
}
