import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import { startTestCluster } from 'kubenest/testing';

const path = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests';
const merge = { 'content-type': 'application/merge-patch+json' };

it('PodCertificateRequest supports kubelets and signers', async () => {
  await using cluster = await startTestCluster({
    flags: [
      '--feature-gates=PodCertificateRequest=true',
      '--runtime-config=certificates.k8s.io/v1beta1=true',
      '--authorization-mode=Node,RBAC',
    ],
    users: [{ name: 'system:node:n', groups: ['system:nodes'] }, { name: 'jane' }],
    objects: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'status' },
        rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['podcertificaterequests/status'], verbs: ['patch'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'status' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'status' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
      },
    ],
  });
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spec = {
    signerName: 'example.com/signer',
    podName: 'web',
    podUID: 'pod-uid',
    serviceAccountName: 'default',
    serviceAccountUID: 'account-uid',
    nodeName: 'n',
    nodeUID: 'node-uid',
    pkixPublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    proofOfPossession: sign(null, Buffer.from('pod-uid'), privateKey).toString('base64'),
  };
  const body = { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'PodCertificateRequest', metadata: { name: 'a' }, spec };
  const made = await cluster.fetch(path, { body });
  expect([made.status, await made.json()]).toMatchObject([201, { spec: { maxExpirationSeconds: 86_400 }, status: {} }]);

  const asNode = (query: string) => cluster.fetch(path + query, { as: 'system:node:n' }).then(({ status }) => status);
  await expect.poll(() => asNode('/a')).toBe(200);
  expect(await asNode('')).toBe(403);
  expect(await asNode('?fieldSelector=spec.nodeName=n')).toBe(200);

  const status = {
    conditions: [{ type: 'Denied', status: 'True', reason: 'No', message: '', lastTransitionTime: '2026-11-21T12:00:00Z' }],
  };
  const deny = (as?: string) => cluster.fetch(`${path}/a/status`, { method: 'PATCH', headers: merge, body: { status }, ...(as && { as }) });
  const refused = await deny('jane');
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    {
      details: {
        causes: [
          { field: 'spec.signerName', message: 'Forbidden: User "jane" is not permitted to "sign" for signer "example.com/signer"' },
        ],
      },
    },
  ]);
  expect((await deny()).status).toBe(200);

  const source = { podCertificate: { signerName: 'example.com/signer', keyType: 'ED25519', credentialBundlePath: 'bundle.pem' } };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', projected: { sources: [source] } }] },
  };
  const created = await cluster.fetch('/api/v1/namespaces/default/pods', { body: pod });
  expect(await created.json()).toMatchObject({ spec: { volumes: [{ projected: { sources: [source] } }] } });

  const role = await cluster.fetch('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node');
  expect(((await role.json()) as { rules: unknown[] }).rules.at(-1)).toEqual({
    verbs: ['create', 'get', 'list', 'watch'],
    apiGroups: ['certificates.k8s.io'],
    resources: ['podcertificaterequests'],
  });
});
