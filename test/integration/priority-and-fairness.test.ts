import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

const api = '/apis/flowcontrol.apiserver.k8s.io/v1';

it('a greedy client gets 429 and the quiet one its lease', async () => {
  await using cluster = await startTestCluster({
    users: [{ name: 'greedy', groups: ['system:masters-not'] }, { name: 'system:kube-scheduler' }],
    flags: ['--max-requests-inflight=10', '--max-mutating-requests-inflight=10', '--authorization-mode=AlwaysAllow'],
    plugins: [],
  });
  const pods = { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'x'.repeat(50_000) } };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
    spec: { holderIdentity: 'a' },
  };
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  await cluster.fetch(leases, { body: lease });
  const greedy = Array.from({ length: 600 }, (_, i) =>
    cluster.fetch('/api/v1/namespaces/default/configmaps', { as: 'greedy', body: { ...pods, metadata: { name: `c${i}` } } }),
  );
  const times: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    const start = performance.now();
    const response = await cluster.fetch(`${leases}/kube-scheduler`, {
      method: 'PATCH',
      as: 'system:kube-scheduler',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { holderIdentity: `holder-${i}` } },
    });
    times.push(performance.now() - start);
    expect(response.status).toBe(200);
  }
  const answers = await Promise.all(greedy);
  const codes = answers.map(({ status }) => status);
  expect(codes.filter((code) => code === 201).length).toBeGreaterThan(0);
  const rejected = answers.filter(({ status }) => status === 429);
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejected[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(codes.every((code) => code === 201 || code === 429)).toBe(true);
  expect(Math.max(...times)).toBeLessThan(2_000);
  const metrics = async (): Promise<string> => (await cluster.fetch('/metrics')).text();
  const labels = 'priority_level="global-default"';
  expect(await metrics()).toMatch(
    new RegExp(`apiserver_flowcontrol_rejected_requests_total\\{${labels},flow_schema="global-default",reason="queue-full"\\} \\d+`),
  );
  expect(await metrics()).toMatch(
    new RegExp(`apiserver_flowcontrol_request_execution_seconds_count\\{${labels},flow_schema="global-default",type="regular"\\} \\d+`),
  );
  await expect.poll(metrics).toContain(`apiserver_flowcontrol_current_executing_seats{${labels}} 0`);
}, 60_000);

it('follows flow schemas as they change', async () => {
  await using cluster = await startTestCluster({ users: [{ name: 'jane' }] });
  const level = async (): Promise<string | null> =>
    (await cluster.fetch('/version', { as: 'jane' })).headers.get('x-kubernetes-pf-prioritylevel-uid');
  const before = await level();
  await cluster.fetch(`${api}/prioritylevelconfigurations`, {
    body: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'janes' },
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
    },
  });
  const schema = await cluster.fetch(`${api}/flowschemas`, {
    body: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'janes' },
      spec: {
        matchingPrecedence: 5,
        priorityLevelConfiguration: { name: 'janes' },
        rules: [
          { subjects: [{ kind: 'User', user: { name: 'jane' } }], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/version'] }] },
        ],
      },
    },
  });
  expect(schema.status).toBe(201);
  await expect.poll(level).not.toBe(before);
});
