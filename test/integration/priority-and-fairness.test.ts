import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

const api = '/apis/flowcontrol.apiserver.k8s.io/v1';

it('rejects a greedy client with 429 and serves a lease renewal of another', async () => {
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
  const labels = 'flow_schema="global-default",priority_level="global-default"';
  expect(await metrics()).toMatch(new RegExp(`apiserver_flowcontrol_rejected_requests_total\\{${labels},reason="queue-full"\\} \\d+`));
  expect(await metrics()).toMatch(new RegExp(`apiserver_flowcontrol_request_execution_seconds_count\\{${labels},type="regular"\\} \\d+`));
  await expect.poll(metrics).toContain(`apiserver_flowcontrol_current_executing_seats{${labels}} 0`);
}, 60_000);

it('applies changed flow schemas', async () => {
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

const dumps = '/debug/api_priority_and_fairness';

it('shows levels, queues and requests to authorized users', async () => {
  await using cluster = await startTestCluster({ users: [{ name: 'jane' }] });
  const page = async (name: string): Promise<string[]> => (await (await cluster.fetch(`${dumps}/${name}`)).text()).split('\n');
  const [header, catchAll, exempt] = await page('dump_priority_levels');
  expect(header).toBe(
    'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests',
  );
  expect(catchAll).toMatch(/^catch-all, {9}0, {12}true, {3}false, {7}0, {15}0, {17}\d/);
  expect(exempt).toMatch(/^exempt, +0, +false, +false, +0, +1, +\d+, +0, +0, +0$/);
  const queues = await page('dump_queues');
  expect(queues[0]).toMatch(
    /^PriorityLevelName, +Index, +PendingRequests, +ExecutingRequests, +SeatsInUse, +NextDispatchR, +InitialSeatsSum, +MaxSeatsSum, +TotalWorkSum$/,
  );
  expect(queues.filter((line) => line.startsWith('leader-election,'))).toHaveLength(16);
  const [titles, own] = await page('dump_requests?includeRequestDetails=1');
  expect(titles).toMatch(/StartTime, +UserName, Verb, +APIPath, +Namespace, Name, +APIVersion, Resource, SubResource$/);
  expect(own).toMatch(
    /^exempt, +exempt, +-1, +-1, +, +\d{4}-.*Z, +1, +0, +0s, +\d{4}-.*Z, +admin, +get, +\/debug\/api_priority_and_fairness\/dump_requests, /,
  );
  expect((await cluster.fetch(`${dumps}/dump_requests`, { as: 'jane' })).status).toBe(403);
  expect((await (await cluster.fetch('/')).text()).includes(dumps)).toBe(false);
});

it('without priority and fairness there are two concurrency limits and no debug pages', async () => {
  await using cluster = await startTestCluster({
    users: [{ name: 'jane' }],
    flags: ['--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=3', '--authorization-mode=AlwaysAllow'],
  });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      cluster.fetch('/api/v1/namespaces/default/configmaps', { as: 'jane', body: { metadata: { name: `c-${i}` } } }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 429]));
  expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
  expect((await cluster.fetch(`${dumps}/dump_queues`)).status).toBe(404);
});
