import type { GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { DelegationTarget } from './delegation.ts';

export interface RestMapping {
  readonly resource: GroupVersionResource;
  readonly namespaced: boolean;
}

/** Maps kinds to resources, including custom ones. Upstream: apimachinery/pkg/api/meta (RESTMapper). */
export interface RestMapper {
  /** Returns the resources of a kind; empty if it is not served in this version. */
  resourcesOf(kind: GroupVersionKind): readonly RestMapping[];
}

export const RestMapper = Symbol.for('kubenest.RestMapper');

/** Maps kinds by the currently installed endpoints. */
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
