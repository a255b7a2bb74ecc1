import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const group = 'resource.k8s.io';
const claims = `/apis/${group}/v1/namespaces/default/resourceclaims`;
const merge = { 'content-type': 'application/merge-patch+json' };
const node = 'authentication.kubernetes.io/node-name';

/** Creates a user with permissions for claims and their status, and `rules` in addition. */
function user(name: string, rules: object[], extra?: Record<string, string[]>) {
  const rbac = 'rbac.authorization.k8s.io';
  const own = { apiGroups: [group], resources: ['resourceclaims', 'resourceclaims/status'], verbs: ['get', 'update', 'patch'] };
  const [role] = name.split(':').slice(-1);
  return {
    user: { name, ...(extra && { extra }) },
    objects: [
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules: [own, ...rules] },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: role },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: rbac, kind: 'User', name }],
      },
    ],
  };
}

const right = (resource: string, verb: string, ...resourceNames: string[]): object => ({
  apiGroups: [group],
  resources: [`resourceclaims/${resource}`],
  verbs: [verb],
  ...(resourceNames.length > 0 && { resourceNames }),
});

// Messages equal those of kube-apiserver v1.36.3.
describe('resource claims', () => {
  const users = [
    user('nobody', []),
    user('scheduler', [right('binding', 'patch')]),
    user('driver', [right('driver', 'arbitrary-node:patch', 'd.example.com')]),
    user('system:serviceaccount:kube-system:on-node', [right('driver', 'associated-node:patch')], { [node]: ['n1'] }),
    user('system:serviceaccount:kube-system:elsewhere', [right('driver', 'associated-node:patch')], { [node]: ['n2'] }),
  ];
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ users: users.map((one) => one.user), objects: users.flatMap((one) => one.objects) as never });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const claim = (name: string, adminAccess?: boolean) => ({
    metadata: { name },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', ...(adminAccess && { adminAccess }) } }] } },
  });
  const answerOf = async (response: Promise<Response>): Promise<string> => {
    const answer = await response;
    const { message } = (await answer.json()) as { message?: string };
    return `${answer.status} ${message ?? ''}`.trim();
  };
  const patchStatus = (as: string, name: string, status: object): Promise<string> =>
    answerOf(cluster.fetch(`${claims}/${name}/status`, { method: 'PATCH', as, headers: merge, body: { status } }));

  it('give administrators access in labelled namespaces', async () => {
    const templates = claims.replace('resourceclaims', 'resourceclaimtemplates');
    const template = { metadata: { name: 't' }, spec: { spec: claim('t', true).spec } };
    const needsLabel =
      /^422 .*: spec\.devices\.requests\[0\]\.adminAccess: Forbidden: admin access to devices requires the `resource\.kubernetes\.io\/admin-access: true` label on the containing namespace$/;
    expect(await answerOf(cluster.fetch(claims, { body: claim('admin', true) }))).toMatch(needsLabel);
    expect(await answerOf(cluster.fetch(templates, { body: template }))).toMatch(needsLabel);
    const labels = { 'resource.kubernetes.io/admin-access': 'true' };
    await cluster.fetch('/api/v1/namespaces/default', { method: 'PATCH', headers: merge, body: { metadata: { labels } } });
    expect(await answerOf(cluster.fetch(claims, { body: claim('admin', true) }))).toBe('201');
    expect(await answerOf(cluster.fetch(templates, { body: template }))).toBe('201');
  });

  const onNode = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] };
  const allocation = { devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'p', device: 'x' }] }, nodeSelector: onNode };
  const devices = [{ driver: 'd.example.com', pool: 'p', device: 'x', data: { a: 1 } }];

  it('are allocated by users with the binding permission', async () => {
    await cluster.fetch(claims, { body: claim('bound') });
    for (const as of ['nobody', 'driver']) {
      expect(await patchStatus(as, 'bound', { allocation })).toBe(
        `422 ResourceClaim.resource.k8s.io "bound" is invalid: status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "${as}" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope`,
      );
    }
    expect(await patchStatus('scheduler', 'bound', { allocation })).toBe('200');
  });

  it.each([
    ['scheduler', '[arbitrary-node:patch]', 'arbitrary-node:patch'],
    ['system:serviceaccount:kube-system:elsewhere', '[arbitrary-node:patch]', 'arbitrary-node:patch'],
    ['driver', undefined, undefined],
    ['system:serviceaccount:kube-system:on-node', undefined, undefined],
  ])('get the status of their devices from drivers: %s', async (as, verbs, first) => {
    const name = `devices-${as.split(':').at(-1)}`;
    await cluster.fetch(claims, { body: claim(name) });
    await patchStatus('scheduler', name, { allocation });
    expect(await patchStatus(as, name, { devices })).toBe(
      verbs === undefined
        ? '200'
        : `422 ResourceClaim.resource.k8s.io "${name}" is invalid: status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="${verbs}" permission: resourceclaims.resource.k8s.io "d.example.com" is forbidden: User "${as}" cannot ${first} resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"`,
    );
  });
});
