/** Compares the names and order of the checks of /healthz, /livez and /readyz with kube-apiserver v1.36.3. */
import { expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

const hooks = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
];
const last = ['autoregister-completion', 'poststarthook/apiservice-openapi-controller', 'poststarthook/apiservice-openapiv3-controller'];
const common = [...hooks.map((name) => `poststarthook/${name}`), ...last];

async function checksOf(cluster: TestCluster, endpoint: string): Promise<string[]> {
  const text = await (await cluster.fetch(`/${endpoint}?verbose`)).text();
  return [...text.matchAll(/^\[\+\](\S+) ok$/gm)].map((match) => match[1] as string);
}

it.each([
  ['healthz', ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...common]],
  ['livez', ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...common]],
  ['readyz', ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...common, 'shutdown']],
])('/%s lists the checks of kube-apiserver, each of which is available individually', async (endpoint, names) => {
  await using cluster = await startTestCluster();
  expect(await checksOf(cluster, endpoint)).toEqual(names);
  for (const name of names) expect((await cluster.fetch(`/${endpoint}/${name}`)).status, name).toBe(200);
});

it.each([
  [
    '--enable-priority-and-fairness=false',
    ['priority-and-fairness-config-consumer', 'priority-and-fairness-filter'],
    ['max-in-flight-filter'],
  ],
  ['--feature-gates=UnknownVersionInteroperabilityProxy=false', ['peer-endpoint-reconciler-controller'], []],
  ['--feature-gates=WatchCacheInitializationPostStartHook=false', ['storage-readiness'], []],
  [
    '--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false',
    [
      'peer-endpoint-reconciler-controller',
      'start-kube-apiserver-identity-lease-controller',
      'start-kube-apiserver-identity-lease-garbage-collector',
    ],
    [],
  ],
])('%s: the hooks equal those of kube-apiserver', async (flag, missing, more) => {
  await using cluster = await startTestCluster({ flags: [flag] });
  const found = (await checksOf(cluster, 'livez')).map((name) => name.replace('poststarthook/', ''));
  expect(hooks.filter((name) => !found.includes(name))).toEqual(missing);
  expect(
    found.filter(
      (name) =>
        ![...common, 'ping', 'log', 'etcd', 'loopback-serving-certificate', 'aggregator-reload-proxy-client-cert'].includes(name) &&
        !common.includes(`poststarthook/${name}`),
    ),
  ).toEqual(more);
});
