import https from 'node:https';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

let cluster: TestCluster;
const agent = new https.Agent({ keepAlive: true });
const rbac = 'rbac.authorization.k8s.io';
const pods = '/api/v1/namespaces/default/pods';
const policies = '/apis/policy/v1beta1/podsecuritypolicies';
const presets = '/apis/settings.k8s.io/v1alpha1/namespaces/default/podpresets';
const any = { rule: 'RunAsAny' };
const open = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, volumes: ['*'] };

beforeAll(async () => {
  cluster = await startTestCluster({
    listen: true,
    flags: ['--enable-admission-plugins=PodPreset,PodSecurityPolicy'],
    users: [{ name: 'jane', groups: ['developers'] }],
    objects: [
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'developer' },
        rules: [
          { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
          { apiGroups: ['policy'], resources: ['podsecuritypolicies'], resourceNames: ['restricted'], verbs: ['use'] },
        ],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'developers' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'developer' },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: 'developers' }],
      },
    ],
  });
});
afterAll(async () => {
  agent.destroy();
  await cluster[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly message?: string; readonly metadata?: { readonly annotations?: object } };
  readonly warning: string | undefined;
}

/** Sends a request over TLS as a user. */
function call(method: string, path: string, body?: object, as = 'admin'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${cluster.token(as)}`, 'content-type': 'application/json' };
    const request = https.request(`${cluster.url}${path}`, { method, agent, ca: cluster.certificateAuthority, headers }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      json(response).then((answer) => resolve({ status, body: answer as Answer['body'], warning: answered['warning'] as string }), reject);
    });
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}
const pod = (name: string, spec: object = {}, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'main', image: 'image' }], ...spec },
});

describe('policy/v1beta1 podsecuritypolicies', () => {
  it('is served beside policy/v1, which stays the preferred version', async () => {
    const { body } = await call('GET', '/apis/policy');
    expect(body).toMatchObject({ versions: [{ version: 'v1' }, { version: 'v1beta1' }], preferredVersion: { version: 'v1' } });
    const { body: resources } = await call('GET', '/apis/policy/v1beta1');
    expect(resources).toMatchObject({
      resources: [{ name: 'podsecuritypolicies', namespaced: false, kind: 'PodSecurityPolicy', shortNames: ['psp'] }],
    });
  });

  it('is defaulted, validated and deprecated', async () => {
    const wrong = {
      metadata: { name: 'wrong' },
      spec: { ...open, fsGroup: { rule: 'X' }, volumes: ['y'], allowedUnsafeSysctls: ['*', 'a'] },
    };
    const denied = await call('POST', policies, wrong);
    expect(denied).toMatchObject({
      status: 422,
      warning: expect.stringMatching(/PodSecurityPolicy is deprecated in v1.21\+, unavailable in v1.25\+/),
    });
    expect(denied.body.message).toMatch(
      /spec.fsGroup.rule: Unsupported value: "X".*spec.volumes: Unsupported value: "y".*items: Forbidden/,
    );
    const made = await call('POST', policies, { metadata: { name: 'permissive' }, spec: { ...open, hostNetwork: true, privileged: true } });
    expect(made).toMatchObject({ status: 201, body: { spec: { allowPrivilegeEscalation: true } } });
  });

  it('restricts pods to the policies that their creators can use', async () => {
    const restricted = { ...open, runAsUser: { rule: 'MustRunAsNonRoot' }, allowPrivilegeEscalation: false };
    expect((await call('POST', policies, { metadata: { name: 'restricted' }, spec: restricted })).status).toBe(201);
    // The plugin's informer receives a policy shortly after its creation.
    await expect
      .poll(() => call('POST', pods, pod('host', { hostNetwork: true }), 'jane'), { timeout: 5_000 })
      .toMatchObject({
        status: 403,
        body: {
          message: expect.stringMatching(
            /^pods "host" is forbidden: PodSecurityPolicy: unable to admit pod: \[.*Host network is not allowed to be used\]$/,
          ),
        },
      });
    const plain = await call('POST', pods, pod('plain'), 'jane');
    expect(plain).toMatchObject({
      status: 201,
      body: {
        metadata: { annotations: { 'kubernetes.io/psp': 'restricted' } },
        spec: { containers: [{ securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false } }] },
      },
    });
    const byAdmin = await call('POST', pods, pod('by-admin', { hostNetwork: true }));
    expect(byAdmin).toMatchObject({ status: 201, body: { metadata: { annotations: { 'kubernetes.io/psp': 'permissive' } } } });
  });
});

describe('settings.k8s.io/v1alpha1 podpresets', () => {
  it('is validated and has an immutable spec', async () => {
    const wrong = await call('POST', presets, { metadata: { name: 'wrong' }, spec: { volumeMounts: [{ name: 'v', mountPath: '/v' }] } });
    expect(wrong).toMatchObject({ status: 422, body: { message: expect.stringMatching(/spec.volumeMounts\[0\].name: Not found: "v"/) } });
    const empty = await call('POST', presets, { metadata: { name: 'empty' } });
    expect(empty.body.message).toMatch(/spec.volumes.env.envFrom.volumeMounts: Required value: must specify at least one/);
    const spec = { selector: { matchLabels: { role: 'web' } }, env: [{ name: 'A', value: '1' }] };
    expect(await call('POST', presets, { metadata: { name: 'web' }, spec })).toMatchObject({
      status: 201,
      body: { metadata: { generation: 1 } },
    });
    const changed = { metadata: { name: 'web', labels: { a: 'b' } }, spec: { ...spec, env: [{ name: 'B', value: '2' }] } };
    expect(await call('PUT', `${presets}/web`, changed)).toMatchObject({ status: 200, body: { metadata: { labels: { a: 'b' } }, spec } });
  });

  it('is applied to the pods that it selects', async () => {
    const made = await call('POST', pods, pod('web', {}, { role: 'web' }));
    expect(made).toMatchObject({ status: 201, body: { spec: { containers: [{ env: [{ name: 'A', value: '1' }] }] } } });
    expect(made.body.metadata?.annotations).toHaveProperty(['podpreset.admission.kubernetes.io/podpreset-web']);
  });
});

it('is not served without the plugins', async () => {
  await using other = await startTestCluster();
  for (const path of [policies, presets]) expect((await other.fetch(path)).status).toBe(404);
});
