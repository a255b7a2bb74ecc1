/** Security-relevant command lines: defaults that depend on other flags, and combinations that a server must reject. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority } from '#cmd/certificates/issue';

/** Behaviour for a command line: the server does not start, or the status for an anonymous client that lists namespaces. */
export type Outcome = { readonly anonymous: number } | { readonly refused: string };

export interface Row {
  readonly name: string;
  /** Flags with their values; `FOLDER` stands for the folder of the files. */
  readonly flags: readonly string[];
  /** True for rows that compare the response to anonymous clients; for others a successful start suffices. */
  readonly isAsked?: boolean;
  /** Reason for an intentional difference of kubenest. */
  readonly differs?: string;
}

const requestHeader = ['--requestheader-client-ca-file=FOLDER/front-proxies.pem', '--requestheader-username-headers=X-Remote-User'];
const audit = ['--audit-policy-file=FOLDER/audit.json', '--audit-log-path=FOLDER/audit.log'];
const oidc = ['--oidc-issuer-url=https://issuer.example.com', '--oidc-client-id=kubernetes'];
const asked = true;
const one = (name: string, ...flags: string[]): Row => ({ name, flags });

export const rows: readonly Row[] = [
  { name: 'anonymous: RBAC', flags: ['--authorization-mode=RBAC'], isAsked: asked },
  { name: 'anonymous: no mode', flags: [], isAsked: asked, differs: 'the default mode is RBAC and not AlwaysAllow' },
  { name: 'anonymous: AlwaysAllow', flags: ['--authorization-mode=AlwaysAllow'], isAsked: asked },
  { name: 'anonymous: AlwaysAllow among others', flags: ['--authorization-mode=Node,RBAC,AlwaysAllow'], isAsked: asked },
  {
    name: 'anonymous: AlwaysAllow, enabled by name',
    flags: ['--authorization-mode=AlwaysAllow', '--anonymous-auth=true'],
    isAsked: asked,
  },
  { name: 'anonymous: AlwaysAllow, switched off', flags: ['--authorization-mode=AlwaysAllow', '--anonymous-auth=false'], isAsked: asked },
  { name: 'anonymous: AlwaysDeny', flags: ['--authorization-mode=AlwaysDeny'], isAsked: asked },
  { name: 'anonymous: RBAC, switched off', flags: ['--authorization-mode=RBAC', '--anonymous-auth=false'], isAsked: asked },
  { name: 'anonymous: AlwaysAllow by a configuration', flags: ['--authorization-config=FOLDER/always-allow.json'], isAsked: asked },
  { name: 'anonymous: RBAC by a configuration', flags: ['--authorization-config=FOLDER/rbac.json'], isAsked: asked },
  {
    name: 'anonymous: enabled by a configuration',
    flags: ['--authorization-mode=RBAC', '--authentication-config=FOLDER/anonymous.json'],
    isAsked: asked,
  },
  {
    name: 'anonymous: disabled by a configuration',
    flags: ['--authorization-mode=RBAC', '--authentication-config=FOLDER/no-anonymous.json'],
    isAsked: asked,
  },
  {
    name: 'anonymous: AlwaysAllow, enabled by a configuration',
    flags: ['--authorization-mode=AlwaysAllow', '--authentication-config=FOLDER/anonymous.json'],
    isAsked: asked,
  },
  {
    name: 'anonymous: AlwaysAllow, a configuration without a word',
    flags: ['--authorization-mode=AlwaysAllow', '--authentication-config=FOLDER/no-word.json'],
    isAsked: asked,
  },
  {
    name: 'anonymous: off, a configuration without a word',
    flags: ['--authorization-mode=RBAC', '--anonymous-auth=false', '--authentication-config=FOLDER/no-word.json'],
    isAsked: asked,
  },
  one(
    'anonymous: a configuration and the flag',
    '--authorization-mode=RBAC',
    '--anonymous-auth=true',
    '--authentication-config=FOLDER/anonymous.json',
  ),
  one(
    'anonymous: a configuration and the flag, off',
    '--authorization-mode=RBAC',
    '--anonymous-auth=false',
    '--authentication-config=FOLDER/no-anonymous.json',
  ),

  one('front proxies: another authority than that of clients', '--client-ca-file=FOLDER/clients.pem', ...requestHeader),
  one('front proxies: the authority of clients', '--client-ca-file=FOLDER/front-proxies.pem', ...requestHeader),
  one('front proxies: the authority of clients, in another file', '--client-ca-file=FOLDER/copy.pem', ...requestHeader),
  one('front proxies: the authority of clients, among others', '--client-ca-file=FOLDER/both.pem', ...requestHeader),
  one(
    'front proxies: the authority of clients, with names',
    '--client-ca-file=FOLDER/both.pem',
    ...requestHeader,
    '--requestheader-allowed-names=front-proxy',
  ),
  one('front proxies: a name of spaces', ...requestHeader, '--requestheader-allowed-names= '),
  one('front proxies: a header of spaces', ...requestHeader, '--requestheader-group-headers= '),
  one('front proxies: a prefix of spaces', ...requestHeader, '--requestheader-extra-headers-prefix= '),
  one('front proxies: no header for users', '--requestheader-client-ca-file=FOLDER/front-proxies.pem'),
  one('front proxies: another header for UIDs', ...requestHeader, '--requestheader-uid-headers=X-Uid'),
  one(
    'front proxies: a file without certificates',
    '--requestheader-client-ca-file=FOLDER/empty.pem',
    '--requestheader-username-headers=X-Remote-User',
  ),
  one('clients: a file that is not there', '--client-ca-file=FOLDER/gone.pem'),
  one('clients: a file without certificates', '--client-ca-file=FOLDER/empty.pem'),

  one('authorization: an unknown mode', '--authorization-mode=Everybody'),
  one('authorization: a mode twice', '--authorization-mode=RBAC,RBAC'),
  one('authorization: ABAC without a file', '--authorization-mode=ABAC'),
  one('authorization: a policy file without ABAC', '--authorization-mode=RBAC', '--authorization-policy-file=FOLDER/policy.jsonl'),
  one('authorization: Webhook without a file', '--authorization-mode=Webhook'),
  one(
    'authorization: a webhook file without Webhook',
    '--authorization-mode=RBAC',
    '--authorization-webhook-config-file=FOLDER/webhook.json',
  ),
  one('authorization: a configuration and modes', '--authorization-mode=RBAC', '--authorization-config=FOLDER/rbac.json'),
  one(
    'authorization: a configuration and a webhook file',
    '--authorization-config=FOLDER/rbac.json',
    '--authorization-webhook-config-file=FOLDER/webhook.json',
  ),
  one(
    'authorization: a configuration and a webhook time',
    '--authorization-config=FOLDER/rbac.json',
    '--authorization-webhook-cache-authorized-ttl=1m',
  ),
  one('authorization: a built-in type with another name', '--authorization-config=FOLDER/other-name.json'),
  one('authorization: a configuration that is not there', '--authorization-config=FOLDER/gone.json'),

  one('issuers: flags', ...oidc),
  one('issuers: no client', '--oidc-issuer-url=https://issuer.example.com'),
  one('issuers: no issuer', '--oidc-client-id=kubernetes'),
  one('issuers: a claim alone', '--oidc-username-claim=sub'),
  one('issuers: plain HTTP', '--oidc-issuer-url=http://issuer.example.com', '--oidc-client-id=kubernetes'),
  one('issuers: the algorithm none', ...oidc, '--oidc-signing-algs=none'),
  one('issuers: the algorithm HS256', ...oidc, '--oidc-signing-algs=HS256'),
  one('issuers: a configuration and flags', ...oidc, '--authentication-config=FOLDER/anonymous.json'),
  one('issuers: a configuration and a claim', '--oidc-username-claim=sub', '--authentication-config=FOLDER/anonymous.json'),

  one('tokens: an issuer twice', '--service-account-issuer=https://a.example.com', '--service-account-issuer=https://a.example.com'),
  one('tokens: an issuer that is not a URL', '--service-account-issuer=a:b c%zz'),
  one('tokens: keys by plain HTTP', '--service-account-jwks-uri=http://a.example.com'),
  one('tokens: less than an hour', '--service-account-max-token-expiration=59m'),
  one('tokens: more than 2^32 seconds', '--service-account-max-token-expiration=1200000h'),
  one('tokens: a signing key that is none', '--service-account-signing-key-file=FOLDER/clients.pem'),
  one('tokens: a key file without keys', '--service-account-key-file=FOLDER/empty.pem'),
  one('tokens: a signing endpoint and key files', '--service-account-signing-endpoint=FOLDER/signer.sock'),

  one('audit: a log', ...audit),
  one('audit: an unknown format', ...audit, '--audit-log-format=xml'),
  one('audit: an unknown mode', ...audit, '--audit-log-mode=never'),
  one('audit: an unknown version', ...audit, '--audit-log-version=audit.k8s.io/v9'),
  one('audit: a negative age', ...audit, '--audit-log-maxage=-1'),
  one('audit: negative backups', ...audit, '--audit-log-maxbackup=-1'),
  one('audit: a negative size', ...audit, '--audit-log-maxsize=-1'),
  one('audit: no buffer', ...audit, '--audit-log-mode=batch', '--audit-log-batch-buffer-size=0'),
  one('audit: no batch', ...audit, '--audit-log-mode=batch', '--audit-log-batch-max-size=0'),
  one(
    'audit: no throttle QPS',
    ...audit,
    '--audit-log-mode=batch',
    '--audit-log-batch-throttle-enable=true',
    '--audit-log-batch-throttle-qps=0',
  ),
  one(
    'audit: no throttle burst',
    ...audit,
    '--audit-log-mode=batch',
    '--audit-log-batch-throttle-enable=true',
    '--audit-log-batch-throttle-burst=0',
  ),
  one('audit: no buffer where none is used', ...audit, '--audit-log-batch-buffer-size=0'),
  one('audit: events of no size', ...audit, '--audit-log-truncate-max-event-size=0'),
  one('audit: events larger than a batch', ...audit, '--audit-log-truncate-max-event-size=20', '--audit-log-truncate-max-batch-size=10'),
  one('audit: a policy that is not there', '--audit-policy-file=FOLDER/gone.json', '--audit-log-path=FOLDER/audit.log'),
  one('audit: a policy that is none', '--audit-policy-file=FOLDER/rbac.json', '--audit-log-path=FOLDER/audit.log'),

  one('encryption: reloads without a configuration', '--encryption-provider-config-automatic-reload=true'),
  one('encryption: a configuration that is not there', '--encryption-provider-config=FOLDER/gone.json'),
  one('storage: an unknown media type', '--storage-media-type=application/xml'),
  one('storage: an unknown backend', '--storage-backend=files'),

  one('serving: port 70000', '--secure-port=70000'),
  one('serving: port -1', '--secure-port=-1'),
  one('serving: a certificate without a key', '--tls-cert-file=FOLDER/server.pem'),
  one('serving: a key without a certificate', '--tls-private-key-file=FOLDER/server.key'),
  one('serving: the key of another certificate', '--tls-cert-file=FOLDER/server.pem', '--tls-private-key-file=FOLDER/other.key'),
  one('serving: a certificate and its key', '--tls-cert-file=FOLDER/server.pem', '--tls-private-key-file=FOLDER/server.key'),
  one('serving: an unknown version', '--tls-min-version=VersionTLS09'),
  one('serving: an unknown cipher suite', '--tls-cipher-suites=TLS_NONE'),
  one('serving: no HTTP/2 streams', '--http2-max-streams-per-connection=-1'),

  one('admission: an unknown plugin', '--enable-admission-plugins=Everything'),
  one('admission: an unknown plugin off', '--disable-admission-plugins=Everything'),
  one('admission: a plugin on and off', '--enable-admission-plugins=NodeRestriction', '--disable-admission-plugins=NodeRestriction'),
  one('admission: a configuration that is not there', '--admission-control-config-file=FOLDER/gone.json'),

  one('APIs: none', '--runtime-config=api/all=false'),
  one('APIs: an unknown group', '--runtime-config=unknown.example/v1=true'),
  one('APIs: no flow control with fairness', '--runtime-config=flowcontrol.apiserver.k8s.io/v1=false'),
  one(
    'APIs: no flow control without fairness',
    '--runtime-config=flowcontrol.apiserver.k8s.io/v1=false',
    '--enable-priority-and-fairness=false',
  ),
  one('APIs: none of general availability with fairness', '--runtime-config=api/ga=false'),
  one('APIs: all and no flow control with fairness', '--runtime-config=api/all=true,flowcontrol.apiserver.k8s.io/v1=false'),

  one('requests: a negative number in flight', '--max-requests-inflight=-1'),
  one('requests: a negative number of writes in flight', '--max-mutating-requests-inflight=-1'),
  one('requests: none in flight', '--max-requests-inflight=0', '--max-mutating-requests-inflight=0'),
  one(
    'requests: none in flight without fairness',
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=0',
    '--enable-priority-and-fairness=false',
  ),
  one('requests: a negative time', '--request-timeout=-1s'),
  one('requests: a negative shortest time', '--min-request-timeout=-1'),
  one('requests: GOAWAY too often', '--goaway-chance=0.03'),
  one('requests: GOAWAY less than never', '--goaway-chance=-0.01'),
  one('requests: an origin that is not pinned', '--cors-allowed-origins=example.com'),
  one('requests: an origin that is pinned', '--cors-allowed-origins=//example[.]com$'),
  one('requests: an origin that is not an expression', '--cors-allowed-origins=//(('),
  one('requests: an unknown directive of transport security', '--strict-transport-security-directives=forever'),
  one('shutdown: a negative delay', '--shutdown-delay-duration=-1s'),
  one('shutdown: a negative grace period of watches', '--shutdown-watch-termination-grace-period=-1s'),
  one('health: a negative grace period', '--livez-grace-period=-1s'),

  one('services: three ranges', '--service-cluster-ip-range=10.0.0.0/24,fd00::/112,10.1.0.0/24'),
  one('services: two ranges of a family', '--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'),
  one('services: a range that is none', '--service-cluster-ip-range=10.0.0.0/33'),
  one('services: a node port outside of the range', '--kubernetes-service-node-port=80'),
  one('services: a node port that is none', '--kubernetes-service-node-port=70000'),
  one('services: no servers', '--apiserver-count=0'),
  one('leadership: a lease that is too short', '--coordinated-leadership-lease-duration=5s'),
  one('leadership: a deadline that is too short', '--coordinated-leadership-renew-deadline=1s'),
  one(
    'peers: authorities without the feature',
    '--peer-ca-file=FOLDER/clients.pem',
    '--feature-gates=UnknownVersionInteroperabilityProxy=false',
  ),
  one(
    'peers: an address without the feature',
    '--peer-advertise-ip=127.0.0.1',
    '--feature-gates=UnknownVersionInteroperabilityProxy=false',
  ),
  one('features: an unknown one', '--feature-gates=Everything=true'),
  one('egress: a configuration that is not there', '--egress-selector-config-file=FOLDER/gone.json'),
  one('tracing: a configuration that is not there', '--tracing-config-file=FOLDER/gone.json'),
  one('tokens of a file that is not there', '--token-auth-file=FOLDER/gone.csv'),
  one('tokens of a file with two columns', '--token-auth-file=FOLDER/two-columns.csv'),
  one('kubelets: authorities that are not there', '--kubelet-certificate-authority=FOLDER/gone.pem'),
  {
    name: 'proxy: a certificate without a key',
    flags: ['--proxy-client-cert-file=FOLDER/server.pem'],
    differs: 'half a pair is an error, where kube-apiserver continues without the certificate',
  },
];

/** Writes the files that the flags refer to. */
export async function writeFiles(folder: string): Promise<void> {
  const [clients, proxies] = await Promise.all([Authority.create('clients'), Authority.create('proxies')]);
  const server = await clients.issue({ commonName: 'server', names: ['localhost'], usages: ['server'] });
  const other = await clients.issue({ commonName: 'other', usages: ['server'] });
  const serviceAccounts = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  const authentication = (rest: object): string =>
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', ...rest });
  const authorization = (type: string, name = type.toLowerCase()): string =>
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers: [{ type, name }],
    });
  const files: Readonly<Record<string, string | Buffer>> = {
    'clients.pem': clients.pair.cert,
    'front-proxies.pem': proxies.pair.cert,
    'copy.pem': `a comment\n${proxies.pair.cert}`,
    'both.pem': `${clients.pair.cert}${proxies.pair.cert}`,
    'empty.pem': 'nothing\n',
    'server.pem': server.cert,
    'server.key': server.key,
    'other.key': other.key,
    'sa.key': serviceAccounts,
    'always-allow.json': authorization('AlwaysAllow'),
    'rbac.json': authorization('RBAC'),
    'other-name.json': authorization('RBAC', 'roles'),
    'anonymous.json': authentication({ anonymous: { enabled: true } }),
    'no-anonymous.json': authentication({ anonymous: { enabled: false } }),
    'no-word.json': authentication({}),
    'policy.jsonl': '',
    'webhook.json': JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }],
    }),
    'audit.json': JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
    'two-columns.csv': 'a,b\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

/** Returns the flags of a row with the folder's path. */
export function flagsOf({ flags }: Row, folder: string): string[] {
  return flags.map((flag) => flag.replaceAll('FOLDER', folder));
}
