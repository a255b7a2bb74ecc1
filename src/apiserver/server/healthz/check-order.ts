import type { HealthCheck } from './health-checks.ts';

/** Checks of kube-apiserver in the order of its health endpoints. */
const order: ReadonlyMap<string, number> = new Map(
  [
    'ping',
    'log',
    'loopback-serving-certificate',
    'etcd',
    'etcd-readiness',
    'informer-sync',
    'poststarthook/start-apiserver-admission-initializer',
    'poststarthook/generic-apiserver-start-informers',
    'poststarthook/priority-and-fairness-config-consumer',
    'poststarthook/priority-and-fairness-filter',
    'poststarthook/storage-object-count-tracker-hook',
    'poststarthook/start-apiextensions-informers',
    'poststarthook/start-apiextensions-controllers',
    'poststarthook/crd-informer-synced',
    'poststarthook/start-system-namespaces-controller',
    'poststarthook/peer-endpoint-reconciler-controller',
    'poststarthook/mixed-version-proxy-handler',
    'poststarthook/local-discovery-cache-sync',
    'poststarthook/peer-discovery-workers',
    'poststarthook/start-cluster-authentication-info-controller',
    'poststarthook/start-kube-apiserver-identity-lease-controller',
    'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
    'poststarthook/storage-readiness',
    'poststarthook/start-legacy-token-tracking-controller',
    'poststarthook/start-service-ip-repair-controllers',
    'poststarthook/rbac/bootstrap-roles',
    'poststarthook/scheduling/bootstrap-system-priority-classes',
    'poststarthook/priority-and-fairness-config-producer',
    'poststarthook/bootstrap-controller',
    'poststarthook/start-kubernetes-service-cidr-controller',
    'poststarthook/aggregator-reload-proxy-client-cert',
    'poststarthook/start-kube-aggregator-informers',
    'poststarthook/apiservice-status-local-available-controller',
    'poststarthook/apiservice-status-remote-available-controller',
    'poststarthook/apiservice-registration-controller',
    'poststarthook/apiservice-discovery-controller',
    'poststarthook/kube-apiserver-autoregistration',
    'autoregister-completion',
    'poststarthook/apiservice-openapi-controller',
    'poststarthook/apiservice-openapiv3-controller',
    'shutdown',
  ].map((name, at) => [name, at]),
);

const otherConditions = (order.get('informer-sync') as number) - 0.5;
const otherHooks = (order.get('shutdown') as number) - 0.5;

/** Sorts checks in kube-apiserver's order. Unknown storage checks come last among those of storage, unknown hooks last of all. */
export function inUpstreamOrder(checks: readonly HealthCheck[]): HealthCheck[] {
  return checks.toSorted((a, b) => placeOf(a.name) - placeOf(b.name));
}

function placeOf(name: string): number {
  return order.get(name) ?? (name.startsWith('poststarthook/') ? otherHooks : otherConditions);
}
