import type { StrategyContext } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import type { Deployment, ReplicaSet } from '#kubernetes/schema/apps_v1.gen';

/**
 * Drops the number of terminating pods if its feature is disabled and the stored status does not have it. Upstream:
 * dropDisabledStatusFields in pkg/registry/apps/deployment/strategy.go and replicaset/strategy.go.
 */
export function dropTerminatingReplicas({ status }: Deployment | ReplicaSet, old: Deployment | ReplicaSet, context: StrategyContext): void {
  if (isOptedOut(context, 'DeploymentReplicaSetTerminatingReplicas') && old.status?.terminatingReplicas === undefined)
    delete status?.terminatingReplicas;
}
