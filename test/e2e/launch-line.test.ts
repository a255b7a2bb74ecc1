import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { freePort } from '../../scripts/free-port.ts';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';

/** As it was built: `npm test` builds it. */
const bin = resolve(import.meta.dirname, '../../bin/kube-apiserver');

/** The line of a launcher that knows kube-apiserver only: files, address and ports are the test's own. */
const line = (folder: string, port: number, etcdUrl: string): string[] => {
  const file = (name: string): string => join(folder, name);
  const plugins =
    'NamespaceLifecycle,LimitRanger,ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,Priority,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ResourceQuota,NodeRestriction';
  return [
    '--authorization-mode=Node,RBAC',
    '--cloud-provider=',
    '--cloud-config=',
    '--v=3',
    '--vmodule=',
    `--audit-policy-file=${file('audit.yaml')}`,
    `--audit-log-path=${file('audit.log')}`,
    '--authorization-webhook-config-file=',
    '--authentication-token-webhook-config-file=',
    `--cert-dir=${folder}`,
    `--egress-selector-config-file=${file('egress.yaml')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--kubelet-client-certificate=${file('admin.crt')}`,
    `--kubelet-client-key=${file('admin.key')}`,
    `--service-account-key-file=${file('sa.pub')}`,
    '--service-account-lookup=true',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-jwks-uri=https://kubernetes.default.svc/openid/v1/jwks',
    `--service-account-signing-key-file=${file('sa.key')}`,
    `--enable-admission-plugins=${plugins}`,
    '--disable-admission-plugins=',
    '--admission-control-config-file=',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${file('server.crt')}`,
    `--tls-private-key-file=${file('server.key')}`,
    '--storage-backend=etcd3',
    '--storage-media-type=application/vnd.kubernetes.protobuf',
    `--etcd-servers=${etcdUrl}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--feature-gates=AllAlpha=false',
    '--external-hostname=localhost',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--requestheader-client-ca-file=${file('proxy-ca.crt')}`,
    '--requestheader-allowed-names=system:auth-proxy',
    `--proxy-client-cert-file=${file('proxy.crt')}`,
    `--proxy-client-key-file=${file('proxy.key')}`,
    '--cors-allowed-origins=/127.0.0.1(:[0-9]+)?$,/localhost(:[0-9]+)?$',
  ];
};

async function writeFiles(folder: string): Promise<{ readonly ca: string; readonly admin: KeyPair; readonly proxy: KeyPair }> {
  const [authority, proxies] = await Promise.all([Authority.create('ca'), Authority.create('proxy-ca')]);
  const [server, admin, proxy] = await Promise.all([
    authority.issue({ commonName: 'kube-apiserver', names: ['localhost', '127.0.0.1'], usages: ['server'] }),
    authority.issue({ commonName: 'admin', organizations: ['system:masters'], usages: ['client'] }),
    proxies.issue({ commonName: 'system:auth-proxy', usages: ['client'] }),
  ]);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const files: Readonly<Record<string, string>> = {
    'ca.crt': authority.pair.cert,
    'proxy-ca.crt': proxies.pair.cert,
    'server.crt': server.cert,
    'server.key': server.key,
    'admin.crt': admin.cert,
    'admin.key': admin.key,
    'proxy.crt': proxy.cert,
    'proxy.key': proxy.key,
    'sa.key': String(privateKey.export({ type: 'pkcs1', format: 'pem' })),
    'sa.pub': String(publicKey.export({ type: 'spki', format: 'pem' })),
    'audit.yaml': 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n',
    'egress.yaml':
      'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n' +
      ['cluster', 'controlplane', 'etcd'].map((name) => `- { name: ${name}, connection: { proxyProtocol: Direct } }\n`).join(''),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return { ca: authority.pair.cert, admin, proxy };
}

it.skipIf(etcd === undefined)(etcd === undefined ? noEtcd : "starts by a launcher's line on an etcd", { timeout: 60_000 }, async () => {
  await using store = await startEtcd();
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-launch-'));
  const port = await freePort();
  const { ca, admin, proxy } = await writeFiles(folder);
  const child = spawn(bin, line(folder, port, store.url), { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as unknown[];
    expect(String(first), told).toContain('kubenest serves the Kubernetes API');
    const get = (path: string, pair: KeyPair, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; text: string }> =>
      new Promise((done, reject) => {
        request({ host: 'localhost', port, path, ca, cert: pair.cert, key: pair.key, headers, agent: false }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => done({ status: response.statusCode ?? 0, text }));
        })
          .on('error', reject)
          .end();
      });
    expect(await get('/readyz', admin)).toEqual({ status: 200, text: 'ok' });
    expect((await get('/api/v1/namespaces/default', admin)).status).toBe(200);
    const nobody = await get('/api/v1/namespaces/default', proxy, { 'x-remote-user': 'jane' });
    expect([nobody.status, nobody.text]).toEqual([403, expect.stringContaining('User \\"jane\\" cannot get resource')]);
    const openId = JSON.parse((await get('/.well-known/openid-configuration', admin)).text) as object;
    expect(openId).toMatchObject({ jwks_uri: 'https://kubernetes.default.svc/openid/v1/jwks' });
    const cors = await get('/version', admin, { origin: 'https://localhost:8080' });
    expect(cors.status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const events = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n');
    expect(events.map((event) => (JSON.parse(event) as { user: { username: string } }).user.username)).toContain('jane');
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  }
});
