/** Tests the command lines of launchers written for kube-apiserver, with files, addresses and ports of the test. */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { freePort } from '../../scripts/free-port.ts';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';

/** Built by `npm test`. */
const bin = resolve(import.meta.dirname, '../../bin/kube-apiserver');

interface Place {
  readonly file: (name: string) => string;
  readonly port: number;
  readonly etcd: string;
}

interface Launcher {
  readonly name: string;
  readonly args: (place: Place) => readonly string[];
  /** Further checks of features that the launcher relies on. */
  readonly serves?: (server: Server) => Promise<void>;
}

interface Server {
  readonly folder: string;
  get(path: string, options?: { readonly as?: KeyPair | undefined; readonly headers?: Record<string, string> }): Promise<Answer>;
  readonly proxy: KeyPair;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const launchers: readonly Launcher[] = [
  {
    // hack/local-up-cluster.sh (start_apiserver) with its defaults; three of its variables are empty arguments.
    name: 'local-up-cluster.sh',
    args: ({ file, port, etcd: url }) => [
      '--authorization-mode=Node,RBAC',
      '--authorization-webhook-config-file=',
      '--authentication-token-webhook-config-file=',
      '',
      '',
      '',
      '--v=3',
      '--vmodule=',
      `--audit-policy-file=${file('audit.yaml')}`,
      `--audit-log-path=${file('audit.log')}`,
      `--cert-dir=${file('.')}`,
      `--egress-selector-config-file=${file('egress.yaml')}`,
      `--client-ca-file=${file('ca.crt')}`,
      `--kubelet-client-certificate=${file('admin.crt')}`,
      `--kubelet-certificate-authority=${file('ca.crt')}`,
      `--kubelet-client-key=${file('admin.key')}`,
      '--kubelet-port=10250',
      '--kubelet-read-only-port=0',
      `--service-account-key-file=${file('sa.key')}`,
      '--service-account-lookup=true',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-jwks-uri=https://kubernetes.default.svc/openid/v1/jwks',
      `--service-account-signing-key-file=${file('sa.key')}`,
      '--enable-admission-plugins=NamespaceLifecycle,LimitRanger,ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,Priority,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ResourceQuota,NodeRestriction',
      '--disable-admission-plugins=',
      '--admission-control-config-file=',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--tls-cert-file=${file('server.crt')}`,
      `--tls-private-key-file=${file('server.key')}`,
      '--storage-backend=etcd3',
      '--storage-media-type=application/vnd.kubernetes.protobuf',
      `--etcd-servers=${url}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--feature-gates=AllAlpha=false',
      '--emulated-version=',
      '--external-hostname=localhost',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--requestheader-client-ca-file=${file('proxy-ca.crt')}`,
      '--requestheader-allowed-names=system:auth-proxy',
      `--proxy-client-cert-file=${file('proxy.crt')}`,
      `--proxy-client-key-file=${file('proxy.key')}`,
      '--cors-allowed-origins=//127.0.0.1(:[0-9]+)?$,//localhost(:[0-9]+)?$',
    ],
    async serves({ folder, get, proxy }) {
      const nobody = await get('/api/v1/namespaces/default', { as: proxy, headers: { 'x-remote-user': 'jane' } });
      expect([nobody.status, nobody.text]).toEqual([403, expect.stringContaining('User \\"jane\\" cannot get resource')]);
      const openId = JSON.parse((await get('/.well-known/openid-configuration')).text) as object;
      expect(openId).toMatchObject({ jwks_uri: 'https://kubernetes.default.svc/openid/v1/jwks' });
      expect((await get('/version', { headers: { origin: 'https://localhost:8080' } })).status).toBe(200);
      const events = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n');
      expect(events.map((event) => (JSON.parse(event) as { user: { username: string } }).user.username)).toContain('jane');
    },
  },
  {
    // controller-runtime's pkg/internal/testing/controlplane/apiserver.go (defaultArgs) and auth.go, in the order of process/arguments.go.
    name: 'envtest',
    args: ({ file, port, etcd: url }) => [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${file('.')}`,
      `--client-ca-file=${file('ca.crt')}`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=${url}`,
      `--secure-port=${port}`,
      `--service-account-issuer=https://127.0.0.1:${port}/`,
      `--service-account-key-file=${file('sa-signer.crt')}`,
      `--service-account-signing-key-file=${file('sa-signer.key')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ],
    async serves({ get }) {
      // The launcher waits for this without credentials.
      expect(await get('/healthz', { as: undefined })).toEqual({ status: 200, text: 'ok' });
    },
  },
  {
    // kubeadm's cmd/kubeadm/app/phases/controlplane/manifests.go (getAPIServerCommand): its static pod has no --bind-address.
    name: 'kubeadm',
    args: ({ file, port, etcd: url }) => [
      '--advertise-address=127.0.0.1',
      '--allow-privileged=true',
      '--authorization-mode=Node,RBAC',
      `--client-ca-file=${file('ca.crt')}`,
      '--enable-admission-plugins=NodeRestriction',
      '--enable-bootstrap-token-auth=true',
      `--etcd-cafile=${file('etcd/ca.crt')}`,
      `--etcd-certfile=${file('apiserver-etcd-client.crt')}`,
      `--etcd-keyfile=${file('apiserver-etcd-client.key')}`,
      `--etcd-servers=${url}`,
      `--kubelet-client-certificate=${file('admin.crt')}`,
      `--kubelet-client-key=${file('admin.key')}`,
      '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
      `--proxy-client-cert-file=${file('proxy.crt')}`,
      `--proxy-client-key-file=${file('proxy.key')}`,
      '--requestheader-allowed-names=front-proxy-client',
      `--requestheader-client-ca-file=${file('proxy-ca.crt')}`,
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-username-headers=X-Remote-User',
      `--secure-port=${port}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${file('sa.pub')}`,
      `--service-account-signing-key-file=${file('sa.key')}`,
      '--service-cluster-ip-range=10.96.0.0/12',
      `--tls-cert-file=${file('server.crt')}`,
      `--tls-private-key-file=${file('server.key')}`,
    ],
  },
  {
    // kwokctl 0.8: pkg/kwokctl/components/kube_apiserver.go with the binary runtime's defaults, and without limits of requests.
    name: 'kwokctl',
    args: ({ file, port, etcd: url }) => [
      '--etcd-prefix=/registry',
      '--allow-privileged=true',
      '--runtime-config=api/legacy=false,api/alpha=false',
      '--max-requests-inflight=0',
      '--max-mutating-requests-inflight=0',
      '--enable-priority-and-fairness=false',
      `--etcd-servers=${url}`,
      '--authorization-mode=Node,RBAC',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--tls-cert-file=${file('both.crt')}`,
      `--tls-private-key-file=${file('both.key')}`,
      `--client-ca-file=${file('ca.crt')}`,
      `--service-account-key-file=${file('both.key')}`,
      `--service-account-signing-key-file=${file('both.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--proxy-client-key-file=${file('both.key')}`,
      `--proxy-client-cert-file=${file('both.crt')}`,
    ],
  },
  {
    // As in hack/make-rules/test-cmd.sh (run_kube_apiserver).
    name: 'test-cmd.sh',
    args: ({ file, port, etcd: url }) => [
      '--bind-address=127.0.0.1',
      '--authorization-mode=RBAC,AlwaysAllow',
      `--secure-port=${port}`,
      '--feature-gates=',
      '--enable-admission-plugins=LimitRanger,ResourceQuota',
      '--disable-admission-plugins=ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,StorageObjectInUseProtection',
      `--etcd-servers=${url}`,
      '--runtime-config=api/v1',
      `--service-account-key-file=${file('sa.key')}`,
      '--service-account-lookup=true',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${file('sa.key')}`,
      '--storage-media-type=',
      `--cert-dir=${file('empty')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      `--client-ca-file=${file('ca.crt')}`,
      `--token-auth-file=${file('tokens.csv')}`,
    ],
    async serves({ get }) {
      const headers = { authorization: 'Bearer admin-token' };
      expect(await get('/healthz', { as: undefined, headers })).toEqual({ status: 200, text: 'ok' });
      expect((await get('/api/v1/secrets', { as: undefined, headers })).status).toBe(200);
    },
  },
];

interface Files {
  readonly admin: KeyPair;
  readonly proxy: KeyPair;
  readonly etcdFlags: readonly string[];
}

async function writeFiles(folder: string): Promise<Files> {
  const [authority, proxies, etcds] = await Promise.all([
    Authority.create('ca'),
    Authority.create('proxy-ca'),
    Authority.create('etcd-ca'),
  ]);
  const names = ['localhost', '127.0.0.1'];
  const [server, admin, both, proxy, etcdServer, etcdClient, signer] = await Promise.all([
    authority.issue({ commonName: 'kube-apiserver', names, usages: ['server'] }),
    authority.issue({ commonName: 'admin', organizations: ['system:masters'], usages: ['client'] }),
    authority.issue({ commonName: 'admin', organizations: ['system:masters'], names, usages: ['server', 'client'] }),
    proxies.issue({ commonName: 'system:auth-proxy', usages: ['client'] }),
    etcds.issue({ commonName: 'etcd', names, usages: ['server', 'client'] }),
    etcds.issue({ commonName: 'kube-apiserver-etcd-client', usages: ['client'] }),
    Authority.create('sa-signer'),
  ]);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pairs = {
    server,
    admin,
    both,
    proxy,
    apiserver: server,
    'etcd/server': etcdServer,
    'apiserver-etcd-client': etcdClient,
    'sa-signer': signer.pair,
  };
  const files: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      Object.entries(pairs).flatMap(([name, { cert, key }]) => Object.entries({ [`${name}.crt`]: cert, [`${name}.key`]: key })),
    ),
    'ca.crt': authority.pair.cert,
    'proxy-ca.crt': proxies.pair.cert,
    'etcd/ca.crt': etcds.pair.cert,
    'sa.key': String(privateKey.export({ type: 'pkcs1', format: 'pem' })),
    'sa.pub': String(publicKey.export({ type: 'spki', format: 'pem' })),
    'tokens.csv': 'admin-token,admin,,"system:masters"\n',
    'audit.yaml': 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n',
    'egress.yaml':
      'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n' +
      ['cluster', 'controlplane', 'etcd'].map((name) => `- { name: ${name}, connection: { proxyProtocol: Direct } }\n`).join(''),
  };
  await mkdir(join(folder, 'etcd'));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const file = (name: string): string => join(folder, 'etcd', name);
  const etcdFlags = [
    '--cert-file',
    file('server.crt'),
    '--key-file',
    file('server.key'),
    '--trusted-ca-file',
    file('ca.crt'),
    '--client-cert-auth',
  ];
  return { admin, proxy, etcdFlags };
}

function fetchFrom(port: number, admin: KeyPair): Server['get'] {
  return (path, { as: pair, headers = {} } = { as: admin }) =>
    new Promise((done, reject) => {
      const tls = { rejectUnauthorized: false, cert: pair?.cert, key: pair?.key, agent: false } as const;
      request({ host: '127.0.0.1', port, path, headers, ...tls }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => done({ status: response.statusCode ?? 0, text }));
      })
        .on('error', reject)
        .end();
    });
}

it.skipIf(etcd === undefined).each(launchers)(
  etcd === undefined ? `$name: ${noEtcd}` : 'starts by the line of $name on an etcd',
  { timeout: 60_000 },
  async ({ name, args, serves }) => {
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-launch-'));
    const { admin, proxy, etcdFlags } = await writeFiles(folder);
    await using store = await (name === 'kubeadm' ? startEtcd(etcdFlags, 'https') : startEtcd());
    const port = await freePort();
    const place = { file: (one: string) => join(folder, one), port, etcd: store.url };
    const child = spawn(bin, args(place), { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      let logged = '';
      child.stderr.on('data', (chunk: Buffer) => (logged += chunk.toString()));
      const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as unknown[];
      expect(String(first), logged).toContain('kubenest serves the Kubernetes API');
      const get = fetchFrom(port, admin);
      expect(await get('/readyz')).toEqual({ status: 200, text: 'ok' });
      expect((await get('/api/v1/namespaces/default')).status).toBe(200);
      await serves?.({ folder, get, proxy });
      // The server uses the launcher's files and creates none in its folder or elsewhere.
      expect(existsSync(join(folder, '.kubenest'))).toBe(false);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    }
  },
);
