import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { HttpsClient } from './https-client.ts';

let cluster: TestCluster;
let folder: string;
let client: HttpsClient;

const configuration = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  path: events.yaml
- name: PodNodeSelector
  configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: pool=all } }
`;
const events = `
apiVersion: eventratelimit.admission.k8s.io/v1alpha1
kind: Configuration
limits: [{ type: Namespace, qps: 1, burst: 2 }]
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-plugins-'));
  await writeFile(join(folder, 'admission.yaml'), configuration);
  await writeFile(join(folder, 'events.yaml'), events);
  const optional = ['NodeRestriction', 'AlwaysPullImages', 'NamespaceAutoProvision', 'EventRateLimit', 'PodNodeSelector'];
  cluster = await startTestCluster({
    listen: true,
    flags: [`--enable-admission-plugins=${optional.join()}`, `--admission-control-config-file=${join(folder, 'admission.yaml')}`],
    users: [
      { name: 'system:node:mine', groups: ['system:nodes', 'system:masters'] },
      { name: 'jane', groups: ['approvers'] },
    ],
    objects: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'approvers' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'approver' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'approvers' }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'approver' },
        rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['update'] }],
      },
    ],
  });
  client = new HttpsClient(cluster);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const call: HttpsClient['call'] = (...request) => client.call(...request);

let count = 0;
async function newNamespace(labels: Record<string, string> = {}): Promise<string> {
  count += 1;
  const name = `ns-${count}`;
  expect((await call('POST', '/api/v1/namespaces', { metadata: { name, labels } })).status).toBe(201);
  return `/api/v1/namespaces/${name}`;
}
const pod = (name: string, spec: object = {}, container: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'image', ...container }], ...spec },
});

describe('quotas and limits', () => {
  it('admit no more than the quota under concurrency', async () => {
    const namespace = await newNamespace();
    await call('POST', `${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '10' } } });
    const counted = { status: { hard: { 'count/configmaps': '10' }, used: { 'count/configmaps': '1' } } };
    expect((await call('PATCH', `${namespace}/resourcequotas/q/status`, counted)).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => call('POST', `${namespace}/configmaps`, { metadata: { name: `c${at}` } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(9);
    expect(answers.find(({ status }) => status === 403)?.body.message).toMatch(
      /exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=\d+, limited: count\/configmaps=10/,
    );
    const { body } = await call('GET', `${namespace}/resourcequotas/q`);
    expect(body.status).toEqual({ hard: { 'count/configmaps': '10' }, used: { 'count/configmaps': '10' } });
  });

  it('set the defaults of a limit range', async () => {
    const namespace = await newNamespace();
    const limits = [{ type: 'Container', default: { memory: '64Mi' }, defaultRequest: { cpu: '100m' } }];
    await call('POST', `${namespace}/limitranges`, { metadata: { name: 'l' }, spec: { limits } });
    const { body } = await call('POST', `${namespace}/pods`, pod('p'));
    expect(body.spec).toMatchObject({
      containers: [{ resources: { limits: { memory: '64Mi' }, requests: { cpu: '100m', memory: '64Mi' } } }],
    });
  });
});

describe('pods', () => {
  it('must satisfy the level of their namespace, and templates are warned about', async () => {
    const namespace = await newNamespace({ 'pod-security.kubernetes.io/enforce': 'baseline' });
    const { status, body } = await call('POST', `${namespace}/pods`, pod('p', { hostNetwork: true }));
    expect(status).toBe(403);
    expect(body.message).toBe('pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)');
    const template = { metadata: { labels: { a: 'b' } }, spec: { hostNetwork: true, containers: [{ name: 'main', image: 'image' }] } };
    const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const warned = await call('POST', namespace.replace('/api/v1', '/apis/apps/v1') + '/deployments', deployment);
    expect(warned.status).toBe(201);
    expect(warned.warning).toContain('would violate PodSecurity');
  });

  it('are changed by plugins of the configuration file', async () => {
    const namespace = await newNamespace();
    const { body } = await call('POST', `${namespace}/pods`, pod('p', {}, { image: 'image:v1', imagePullPolicy: 'Never' }));
    expect(body.spec).toMatchObject({ nodeSelector: { pool: 'all' }, containers: [{ imagePullPolicy: 'Always' }] });
  });

  it('created by nodes must be mirror pods', async () => {
    const namespace = await newNamespace();
    const { body } = await call('POST', `${namespace}/pods`, pod('p', { nodeName: 'mine' }), 'system:node:mine');
    expect(body.message).toMatch(/node "mine" can only create mirror pods$/);
  });
});

describe('other plugins', () => {
  it('create a missing namespace', async () => {
    expect((await call('POST', '/api/v1/namespaces/made/configmaps', { metadata: { name: 'c' } })).status).toBe(201);
    expect((await call('GET', '/api/v1/namespaces/made')).status).toBe(200);
  });

  it('limit the rate of events', async () => {
    const namespace = await newNamespace();
    const name = namespace.split('/').at(-1);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) =>
        call('POST', `${namespace}/events`, { metadata: { name: `e${at}` }, involvedObject: { namespace: name, kind: 'Pod', name: 'p' } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(2);
  });

  it('restrict approvals to users with permission for the signer', async () => {
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const { Authority } = await import('#cmd/certificates/issue');
    expect(Authority).toBeDefined();
    const x509 = await import('@peculiar/x509');
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const made = await x509.Pkcs10CertificateRequestGenerator.create({
      name: 'CN=jane,O=system:masters',
      keys,
      signingAlgorithm: algorithm,
    });
    const request = Buffer.from(made.toString('pem')).toString('base64');
    const csr = (signerName: string) => ({ metadata: { name: 'r' }, spec: { request, signerName, usages: ['client auth'] } });
    const refused = await call('POST', requests, csr('kubernetes.io/kube-apiserver-client'));
    expect(refused.body.message).toMatch(/use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed$/);
    const { body } = await call('POST', requests, csr('example.com/signer'));
    const approved = { ...body, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } };
    const { status, body: answer } = await call('PUT', `${requests}/r/approval`, approved, 'jane');
    expect(status).toBe(403);
    expect(answer.message).toMatch(/user not permitted to approve requests with signerName "example.com\/signer"$/);
  });

  it('allow the expansion of claims only if their class does', async () => {
    const namespace = await newNamespace();
    const claim = {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    };
    await call('POST', `${namespace}/persistentvolumeclaims`, claim);
    await call('PATCH', `${namespace}/persistentvolumeclaims/c/status`, { status: { phase: 'Bound' } });
    const { body } = await call('PATCH', `${namespace}/persistentvolumeclaims/c`, {
      spec: { resources: { requests: { storage: '2Gi' } } },
    });
    expect(body.message).toMatch(/only dynamically provisioned pvc can be resized/);
  });

  it("are measured under upstream's metric names", async () => {
    const response = await cluster.fetch('/metrics');
    const text = await response.text();
    expect(text).toMatch(
      /apiserver_admission_controller_admission_duration_seconds_count\{name="LimitRanger",operation="CREATE",rejected="false",type="admit"\} \d+/,
    );
    expect(text).toMatch(
      /apiserver_admission_step_admission_duration_seconds_bucket\{operation="CREATE",rejected="true",type="validate",le="0.005"\} \d+/,
    );
    expect(text).toMatch(
      /pod_security_evaluations_total\{decision="deny",mode="enforce",policy_level="baseline",policy_version="latest",request_operation="create",resource="pod",subresource=""\} 1/,
    );
  });
});
