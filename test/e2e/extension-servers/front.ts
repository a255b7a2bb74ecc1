/**
 * A server in front of extension API servers: it publishes its trust settings and proxies requests with its own certificate.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority } from '#cmd/certificates/issue';
import { type Answer, Kubenest } from '../../servers/kubenest.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/**
 * `jane` has all permissions on resources of `groups`, and no others. `delegate` may create token and access reviews and
 * watch the resources that admission requires.
 */
export async function startFront(folder: string, groups: readonly string[]): Promise<Kubenest> {
  mkdirSync(folder, { recursive: true });
  const authority = await Authority.create('front-proxy-ca');
  const { cert, key } = await authority.issue({ commonName: 'front-proxy', usages: ['client'] });
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const front = await Kubenest.start(
    folder,
    [
      `--proxy-client-cert-file=${file('proxy.crt', cert)}`,
      `--proxy-client-key-file=${file('proxy.key', key)}`,
      `--requestheader-client-ca-file=${file('proxy-ca.crt', authority.pair.cert)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
    { 'delegate-token': 'delegate,delegate', 'jane-token': 'jane,jane' },
  );
  const user = (name: string) => [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }];
  const role = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const rules = [{ apiGroups: groups, resources: ['*'], verbs: ['*'] }];
  await created(front, `${rbac}/clusterroles`, { metadata: { name: 'things' }, rules });
  await created(front, `${rbac}/clusterrolebindings`, {
    metadata: { name: 'things' },
    roleRef: role('ClusterRole', 'things'),
    subjects: user('jane'),
  });
  const followed = ['namespaces', 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
  const policies = ['validatingadmissionpolicies', 'mutatingadmissionpolicies'].flatMap((one) => [one, one.replace(/ies$/, 'ybindings')]);
  const reading = [
    { apiGroups: ['', 'admissionregistration.k8s.io'], resources: [...followed, ...policies], verbs: ['get', 'list', 'watch'] },
  ];
  await created(front, `${rbac}/clusterroles`, { metadata: { name: 'reading' }, rules: reading });
  await created(front, `${rbac}/clusterrolebindings`, {
    metadata: { name: 'reading' },
    roleRef: role('ClusterRole', 'reading'),
    subjects: user('delegate'),
  });
  await created(front, `${rbac}/clusterrolebindings`, {
    metadata: { name: 'delegate' },
    roleRef: role('ClusterRole', 'system:auth-delegator'),
    subjects: user('delegate'),
  });
  await created(front, `${rbac}/namespaces/kube-system/rolebindings`, {
    metadata: { name: 'delegate' },
    roleRef: role('Role', 'extension-apiserver-authentication-reader'),
    subjects: user('delegate'),
  });
  return front;
}

/** Registers a local server as the server of a group version. */
export async function register(front: Kubenest, group: string, version: string, port: number, trust: object): Promise<void> {
  const service = { metadata: { name: 'extension' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
  await created(front, '/api/v1/namespaces/default/services', service);
  await created(front, '/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `${version}.${group}` },
    spec: {
      ...{ group, version, groupPriorityMinimum: 1_000, versionPriority: 15 },
      service: { namespace: 'default', name: 'extension', port },
      ...trust,
    },
  });
}

export async function created(server: Kubenest, path: string, body: object): Promise<Answer> {
  const answer = await server.fetch(path, { body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

/** Returns the condition Available of an APIService. */
export async function availability(front: Kubenest, name: string): Promise<unknown> {
  const { body } = await front.fetch(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`);
  const { conditions = [] } = (body as { status?: { conditions?: { type: string }[] } }).status ?? {};
  return conditions.find(({ type }) => type === 'Available');
}
