import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { Json } from './custom-kinds.ts';
import { HttpsClient } from './https-client.ts';
import { gatekeeperConfigurations, kyvernoConfigurations, otherConfigurations, verdict } from './policy-engines.ts';
import { type Asked, startWebhook, type WebhookServer } from './webhook-server.ts';

const reporter = 'system:serviceaccount:kyverno:kyverno-reports-controller';
const registration = '/apis/admissionregistration.k8s.io/v1';

let webhook: WebhookServer;
let cluster: TestCluster;
let client: HttpsClient;
/** Calls as `path OPERATION resource/subresource`. */
const seen: string[] = [];
/** Paths without a response. */
const hanging = new Set<string>();
/** Pending writes of the engine. */
let reports: Promise<unknown>[] = [];

async function review({ request, apiVersion, kind }: Json, { path }: Asked): Promise<Json> {
  const { resource, subResource, operation } = request;
  seen.push(`${path} ${operation} ${resource.resource}${subResource ? `/${subResource}` : ''}`);
  if (hanging.has(path)) await new Promise(() => {});
  if (path === '/validate/ignore' && operation === 'CREATE' && resource.resource === 'pods' && !request.dryRun)
    reports.push(report(request));
  return { apiVersion, kind, response: { uid: request.uid, ...verdict(path, request) } };
}

/** Records asynchronously the policies' results for a pod as an object of its own kind. */
function report({ namespace, object }: Json): Promise<unknown> {
  const result = object.metadata.labels?.team === 'unknown' ? 'fail' : 'pass';
  return client.call(
    'POST',
    `/apis/wgpolicyk8s.io/v1alpha2/namespaces/${namespace}/policyreports`,
    {
      apiVersion: 'wgpolicyk8s.io/v1alpha2',
      kind: 'PolicyReport',
      metadata: { generateName: 'report-' },
      scope: { apiVersion: 'v1', kind: 'Pod', name: object.metadata.name },
      results: [{ policy: 'known-teams', result, source: 'kyverno' }],
      summary: { [result]: 1 },
    },
    reporter,
  );
}

const definition = (group: string, version: string, kind: string, scope: 'Namespaced' | 'Cluster'): KubeObject =>
  newDefinition({ kind, group, scope, versions: [version], plural: kind === 'ClusterPolicy' ? 'clusterpolicies' : 'policyreports' });

const service = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { type: 'ExternalName', externalName: 'localhost' },
});
const namespace = (name: string, labels = {}): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });

beforeAll(async () => {
  webhook = await startWebhook(review, ['kyverno-svc.kyverno.svc', 'gatekeeper-webhook-service.gatekeeper-system.svc']);
  cluster = await startTestCluster({
    listen: true,
    quiet: true,
    users: [{ name: reporter }, { name: 'system:node:n', groups: ['system:nodes', 'system:masters'] }],
    objects: [
      namespace('kyverno'),
      namespace('gatekeeper-system', { 'admission.gatekeeper.sh/ignore': 'no-self-managing' }),
      namespace('team-a'),
      service('kyverno', 'kyverno-svc'),
      service('gatekeeper-system', 'gatekeeper-webhook-service'),
      definition('wgpolicyk8s.io', 'v1alpha2', 'PolicyReport', 'Namespaced'),
      definition('kyverno.io', 'v1', 'ClusterPolicy', 'Cluster'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'reports' },
        rules: [{ apiGroups: ['wgpolicyk8s.io'], resources: ['policyreports'], verbs: ['create', 'list'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reports' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reports' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: reporter }],
      },
    ],
  });
  client = new HttpsClient(cluster);
  const engine = { port: webhook.port, caBundle: Buffer.from(webhook.certificateAuthority).toString('base64') };
  const all = [...otherConfigurations(60, engine), ...kyvernoConfigurations(engine), ...gatekeeperConfigurations(engine)];
  for (const configuration of all) {
    const path = `${registration}/${String(configuration['kind']).toLowerCase()}s`;
    expect((await client.call('POST', path, configuration)).body).toMatchObject({ kind: configuration['kind'] });
  }
});
afterAll(async () => {
  await Promise.all(reports);
  client[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
  webhook[Symbol.dispose]();
});
beforeEach(async () => {
  // Waits for writes started by the previous test.
  await Promise.all(reports);
  seen.length = 0;
  hanging.clear();
  reports = [];
});

/** Returns the calls without those for reports, which are written asynchronously. */
const calls = (): string[] => seen.filter((call) => !call.endsWith('policyreports')).sort();

let count = 0;
/** Creates a pod with a generated name. */
function run(labels: Json | undefined, place = 'team-a', as = 'admin', query = '') {
  count += 1;
  const pod = { metadata: { name: `p${count}`, ...(labels && { labels }) }, spec: { containers: [{ name: 'main', image: 'image' }] } };
  return client.call('POST', `/api/v1/namespaces/${place}/pods${query}`, pod, as);
}

describe('policy engines as webhooks', () => {
  it('mutate sequentially by configuration name, then validate in parallel', async () => {
    const { status, body } = await run({ team: 'a' });
    expect(body.message).toBeUndefined();
    expect(status).toBe(201);
    expect(body.metadata.labels).toEqual({ team: 'a', gatekeeper: 'added', kyverno: 'added' });
    const asked = seen.filter((call) => !call.endsWith('policyreports'));
    expect(asked.slice(0, 3)).toEqual(['/v1/mutate CREATE pods', '/mutate/fail CREATE pods', '/mutate/ignore CREATE pods']);
    expect(asked.slice(3).sort()).toEqual(['/v1/admit CREATE pods', '/validate/fail CREATE pods', '/validate/ignore CREATE pods']);
  });

  it('deny with a reason', async () => {
    const { status, body } = await run({});
    expect(status).toBe(400);
    expect(body.message).toBe(
      `admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/team-a/p${count} was blocked due to the following policies \n\nrequire-labels:\n  check-team: 'validation error: the label team is required'\n`,
    );
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'image' }] } };
    const deployment = { metadata: { name: 'd' }, spec: { replicas: 9, selector: { matchLabels: { a: 'b' } }, template } };
    const refused = await client.call('POST', '/apis/apps/v1/namespaces/team-a/deployments', deployment);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe('admission webhook "validation.gatekeeper.sh" denied the request: [max-replicas] at most 5 replicas');
  });

  it('warn, and write reports without being called for them', async () => {
    const { warning } = await run({ team: 'unknown' });
    expect(warning).toBe('299 - "policy known-teams.check: the team is not known"');
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    expect(await reports[0]).toMatchObject({ status: 201 });
    const { body } = await client.call('GET', '/apis/wgpolicyk8s.io/v1alpha2/policyreports', undefined, reporter);
    const [failed] = body.items.filter(({ summary }: Json) => summary.fail);
    expect(failed).toMatchObject({ scope: { name: `p${count}` }, results: [{ policy: 'known-teams', result: 'fail' }] });
    // Gatekeeper has no condition that excludes Kyverno.
    expect(seen.filter((call) => call.endsWith('policyreports')).sort()).toEqual([
      '/v1/admit CREATE policyreports',
      '/v1/mutate CREATE policyreports',
    ]);
  });

  it.each([
    ['their own namespace', 'kyverno', undefined, 'admin', ['/v1/admit CREATE pods', '/v1/mutate CREATE pods']],
    [
      'the namespace of the other engine',
      'gatekeeper-system',
      { team: 'a' },
      'admin',
      ['/mutate/fail CREATE pods', '/mutate/ignore CREATE pods', '/validate/fail CREATE pods', '/validate/ignore CREATE pods'],
    ],
    ['requests of nodes', 'team-a', undefined, 'system:node:n', ['/v1/admit CREATE pods', '/v1/mutate CREATE pods']],
  ])('are not called for %s', async (_, place, labels, as, asked) => {
    expect((await run(labels, place, as)).status).toBe(201);
    expect(calls()).toEqual(asked);
  });

  it('are called for subresources that a rule lists', async () => {
    const { body } = await run({ team: 'a' });
    const pod = `/api/v1/namespaces/team-a/pods/${body.metadata.name}`;
    seen.length = 0;
    await client.call('PATCH', `${pod}/status`, { status: { phase: 'Running' } });
    expect(calls()).toEqual(['/validate/ignore UPDATE pods/status']);
    seen.length = 0;
    await client.call('POST', `${pod}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: body.metadata.name } });
    expect(calls().filter((call) => call.includes('eviction'))).toEqual([
      '/v1/admit CREATE pods/eviction',
      '/validate/ignore CREATE pods/eviction',
    ]);
  });

  it('are selected by the labels of an object', async () => {
    await client.call('POST', '/api/v1/namespaces/team-a/configmaps', {
      metadata: { name: 'short', labels: { 'cleanup.kyverno.io/ttl': '1h' } },
    });
    expect(seen).toContain('/verifyttl CREATE configmaps');
    seen.length = 0;
    await client.call('POST', '/api/v1/namespaces/team-a/configmaps', { metadata: { name: 'long' } });
    expect(calls()).toEqual(['/v1/admit CREATE configmaps', '/v1/mutate CREATE configmaps', '/validate/ignore CREATE configmaps']);
  });

  it('protect their own kinds and labels', async () => {
    const path = '/apis/kyverno.io/v1/clusterpolicies';
    const policy = { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata: { name: 'empty' }, spec: {} };
    const refused = await client.call('POST', path, policy);
    expect(refused.body.message).toBe('admission webhook "validate-policy.kyverno.svc" denied the request: spec.rules: Required value');
    const ruled = { ...policy, spec: { rules: [{ name: 'check-team' }] } };
    expect((await client.call('POST', path, ruled)).status).toBe(201);
    const { status, body } = await client.call('POST', '/api/v1/namespaces', namespace('sly', { 'admission.gatekeeper.sh/ignore': 'yes' }));
    expect(status).toBe(422);
    expect(body.message).toMatch(
      /^admission webhook "check-ignore-label.gatekeeper.sh" denied the request: only exempt namespace can have/,
    );
  });

  it('receive the dry run flag and write no report', async () => {
    expect((await run({ team: 'a' }, 'team-a', 'admin', '?dryRun=All')).status).toBe(201);
    expect(calls()).toHaveLength(6);
    expect(reports).toEqual([]);
  });

  it('delay no request when failing open, and block requests when failing closed', async () => {
    hanging.add('/v1/admit').add('/v1/mutate');
    const began = performance.now();
    const { status, body } = await run({ team: 'a' });
    expect(status).toBe(201);
    expect(body.metadata.labels).toEqual({ team: 'a', kyverno: 'added' });
    expect(performance.now() - began).toBeGreaterThan(1_900);
    webhook[Symbol.dispose]();
    const down = await run({ team: 'a' });
    expect(down.status).toBe(500);
    expect(down.body.message).toMatch(
      /^Internal error occurred: failed calling webhook "mutate.kyverno.svc-fail": failed to call webhook: Post "https:\/\/kyverno-svc.kyverno.svc:\d+\/mutate\/fail\?timeout=10s": dial tcp 127.0.0.1:\d+: connect: connection refused$/,
    );
    expect((await run(undefined, 'kyverno')).status).toBe(201);
    expect((await client.call('POST', '/api/v1/namespaces/team-a/configmaps', { metadata: { name: 'open' } })).status).toBe(201);
  });
});
