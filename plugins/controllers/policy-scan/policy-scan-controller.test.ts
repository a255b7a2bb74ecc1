import { expect, it, vi } from 'vitest';
import type { KubeObject } from 'kubenest/sdk';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { reportDefinitions } from '#apiserver/admission/scan/report-definitions';
import type { PolicyReport } from '#apiserver/admission/scan/policy-report';

const admission = 'admissionregistration.k8s.io/v1';
const patience = { timeout: 30_000, interval: 200 };
const reportsPath = '/apis/openreports.io/v1alpha1/namespaces/default/reports';

const configMap = (name: string, team?: string): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...(team && { labels: { team } }) } }) as KubeObject;

const validationsOf = (key: string): readonly object[] => [
  { expression: `has(object.metadata.labels) && '${key}' in object.metadata.labels`, message: `no ${key}` },
];
const policies: readonly KubeObject[] = [
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'labels' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      },
      validations: validationsOf('team'),
    },
  } as KubeObject,
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'labels' },
    spec: { policyName: 'labels', validationActions: ['Deny'] },
  } as KubeObject,
];

/** Returns the fails of the stored reports, by object: `name: message`. */
async function reported(cluster: TestCluster): Promise<string[]> {
  const { items } = (await (await cluster.fetch(reportsPath)).json()) as { items: PolicyReport[] };
  return items
    .flatMap(({ scope, results }) => results.filter(({ result }) => result === 'fail').map(({ message }) => `${scope.name}: ${message}`))
    .toSorted();
}

const patch = (cluster: TestCluster, path: string, body: object): Promise<Response> =>
  cluster.fetch(path, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: JSON.stringify(body) });

async function sample(cluster: TestCluster, name: string): Promise<string[]> {
  const text = await (await cluster.fetch('/metrics')).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

it('keeps the reports right as objects and policies change, and counts', async () => {
  await using cluster = await startTestCluster({
    controllers: ['policy-scan-controller'],
    objects: [...reportDefinitions('openreports.io'), configMap('good', 'a'), configMap('bad'), ...policies],
  });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual(['bad: no team']), patience);
  await vi.waitFor(
    async () =>
      expect(await sample(cluster, 'kubenest_policy_scan_results')).toEqual([
        'kubenest_policy_scan_results{policy="labels",result="fail"} 1',
      ]),
    patience,
  );
  expect(await sample(cluster, 'kubenest_policy_scan_duration_seconds')).toHaveLength(1);
  const [objects = ''] = await sample(cluster, 'kubenest_policy_scan_objects_total');
  expect(Number(objects.split(' ')[1])).toBeGreaterThan(50);
  // The scan is no request: it must not count in the metrics of policies.
  expect(await sample(cluster, 'apiserver_validating_admission_policy_check_total')).toEqual([]);

  await patch(cluster, '/api/v1/namespaces/default/configmaps/good', { metadata: { labels: { team: null } } });
  await patch(cluster, '/api/v1/namespaces/default/configmaps/bad', { metadata: { labels: { team: 'b' } } });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual(['good: no team']), patience);

  await cluster.fetch('/api/v1/namespaces/default/configmaps/good', { method: 'DELETE' });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual([]), patience);

  await patch(cluster, `/apis/${admission}/validatingadmissionpolicies/labels`, { spec: { validations: validationsOf('owner') } });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual(['bad: no owner']), patience);
  await cluster.fetch(`/apis/${admission}/validatingadmissionpolicybindings/labels`, { method: 'DELETE' });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual([]), patience);
  // The metrics follow the reports.
  await vi.waitFor(
    async () =>
      expect(await sample(cluster, 'kubenest_policy_scan_results')).toEqual([
        'kubenest_policy_scan_results{policy="labels",result="fail"} 0',
      ]),
    patience,
  );
}, 120_000);

it('writes reports once their kinds are installed', async () => {
  await using cluster = await startTestCluster({ controllers: ['policy-scan-controller'], objects: [configMap('bad'), ...policies] });
  await vi.waitFor(async () => expect(await sample(cluster, 'kubenest_policy_scan_duration_seconds')).toHaveLength(1), patience);
  for (const definition of reportDefinitions('openreports.io'))
    await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  await vi.waitFor(async () => expect(await reported(cluster)).toEqual(['bad: no team']), patience);
}, 120_000);

it('does not run by default', async () => {
  await using cluster = await startTestCluster({ controllers: ['*'] });
  await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: configMap('bad') });
  expect(await sample(cluster, 'kubenest_policy_scan_objects_total')).toEqual([]);
});
