/** Values with which kube-apiserver v1.36.3 starts; most were verified against it. The server must start with them too. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { completeOptions } from './complete.ts';
import { flagTable } from './flag-table.ts';
import { readServerOptions } from './read-server-options.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-values-'));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  // Key and certificate files for the flags that name some.
  const command = await readServerOptions([`--data-dir=${folder}`]);
  if ('options' in command) await completeOptions(command.options);
});
afterAll(() => rm(folder, { recursive: true }));

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  users: [{ name: 'a', user: {} }],
  'current-context': 'a',
});
const files: Readonly<Record<string, string>> = {
  'kubeconfig.json': kubeconfig,
  'abac.jsonl': '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"a","readonly":true}}\n',
  'admission.yaml': 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n',
  'audit.yaml': 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n',
  'authentication.yaml': 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: []\n',
  'authorization.yaml':
    'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{ type: RBAC, name: rbac }]\n',
  'egress.yaml':
    'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections: [{ name: cluster, connection: { proxyProtocol: Direct } }]\n',
  'encryption.yaml':
    'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{ resources: [secrets], providers: [{ identity: {} }] }]\n',
  'labels.yaml': 'apiserver_request_total,verb: GET\n',
  'tokens.csv': 'a,b,c\n',
  'tracing.yaml': 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: 1\n',
};

/** Another valid value of each flag; `F` is the folder of the files. Flags that require another flag are followed by it. */
const values: Readonly<Record<string, readonly string[]>> = {
  'admission-control': ['NamespaceLifecycle,ResourceQuota'],
  'admission-control-config-file': ['F/admission.yaml'],
  'advertise-address': ['127.0.0.2'],
  'aggregator-reject-forwarding-redirect': ['false'],
  'allow-metric-labels': ['apiserver_request_total,verb=GET'],
  'allow-metric-labels-manifest': ['F/labels.yaml'],
  'allow-privileged': ['true'],
  'anonymous-auth': ['false'],
  'api-audiences': ['a,b'],
  'apiserver-count': ['2'],
  'audit-log-batch-buffer-size': ['100'],
  'audit-log-batch-max-size': ['2'],
  'audit-log-batch-max-wait': ['1s'],
  'audit-log-batch-throttle-burst': ['5'],
  'audit-log-batch-throttle-enable': ['true', '--audit-log-batch-throttle-qps=1', '--audit-log-batch-throttle-burst=1'],
  'audit-log-batch-throttle-qps': ['1.5'],
  'audit-log-compress': ['true'],
  'audit-log-format': ['legacy'],
  'audit-log-maxage': ['1'],
  'audit-log-maxbackup': ['1'],
  'audit-log-maxsize': ['1'],
  'audit-log-mode': ['batch'],
  'audit-log-path': ['-', '--audit-policy-file=F/audit.yaml'],
  'audit-log-truncate-enabled': ['true'],
  'audit-log-truncate-max-batch-size': ['20485760'],
  'audit-log-truncate-max-event-size': ['1024'],
  'audit-log-version': ['audit.k8s.io/v1'],
  'audit-policy-file': ['F/audit.yaml'],
  'audit-webhook-batch-buffer-size': ['100'],
  'audit-webhook-batch-initial-backoff': ['1s'],
  'audit-webhook-batch-max-size': ['2'],
  'audit-webhook-batch-max-wait': ['1s'],
  'audit-webhook-batch-throttle-burst': ['5'],
  'audit-webhook-batch-throttle-enable': ['false'],
  'audit-webhook-batch-throttle-qps': ['1.5'],
  'audit-webhook-config-file': ['F/kubeconfig.json', '--audit-policy-file=F/audit.yaml'],
  'audit-webhook-initial-backoff': ['1s'],
  'audit-webhook-mode': ['blocking'],
  'audit-webhook-truncate-enabled': ['true'],
  'audit-webhook-truncate-max-batch-size': ['20485760'],
  'audit-webhook-truncate-max-event-size': ['1024'],
  'audit-webhook-version': ['audit.k8s.io/v1'],
  'authentication-config': ['F/authentication.yaml'],
  'authentication-token-webhook-cache-ttl': ['1s'],
  'authentication-token-webhook-config-file': ['F/kubeconfig.json'],
  'authentication-token-webhook-version': ['v1'],
  'authorization-config': ['F/authorization.yaml'],
  'authorization-mode': ['Node,RBAC'],
  'authorization-policy-file': ['F/abac.jsonl', '--authorization-mode=ABAC'],
  'authorization-webhook-cache-authorized-ttl': ['1s', '--authorization-mode=RBAC'],
  'authorization-webhook-cache-unauthorized-ttl': ['1s', '--authorization-mode=RBAC'],
  'authorization-webhook-config-file': ['F/kubeconfig.json', '--authorization-mode=Webhook'],
  'authorization-webhook-version': ['v1'],
  'bind-address': ['127.0.0.1'],
  'cert-dir': ['F/certs'],
  'client-ca-file': ['F/pki/ca.crt'],
  'contention-profiling': ['true'],
  'coordinated-leadership-lease-duration': ['20s'],
  'coordinated-leadership-renew-deadline': ['9s'],
  'coordinated-leadership-retry-period': ['3s'],
  'cors-allowed-origins': ['//localhost$'],
  'debug-socket-path': ['F/debug.sock'],
  'default-not-ready-toleration-seconds': ['1'],
  'default-unreachable-toleration-seconds': ['1'],
  'default-watch-cache-size': ['0'],
  'delete-collection-workers': ['5'],
  'disable-admission-plugins': ['ServiceAccount'],
  'disable-http2-serving': ['true'],
  'disabled-metrics': ['apiserver_request_total'],
  'egress-selector-config-file': ['F/egress.yaml'],
  'emulated-version': ['1.35', 'kube=1.33'],
  'emulation-forward-compatible': ['true', '--emulated-version=1.35'],
  'enable-admission-plugins': ['NodeRestriction,AlwaysPullImages'],
  'enable-aggregator-routing': ['true'],
  'enable-bootstrap-token-auth': ['true'],
  'enable-garbage-collector': ['false'],
  'enable-logs-handler': ['true'],
  'enable-priority-and-fairness': ['false'],
  'encryption-provider-config': ['F/encryption.yaml'],
  'encryption-provider-config-automatic-reload': ['true', '--encryption-provider-config=F/encryption.yaml'],
  'endpoint-reconciler-type': ['none'],
  'etcd-cafile': ['F/pki/ca.crt', '--etcd-servers=https://127.0.0.1:1'],
  'etcd-certfile': ['F/pki/admin.crt', '--etcd-keyfile=F/pki/admin.key', '--etcd-servers=https://127.0.0.1:1'],
  'etcd-compaction-interval': ['0s', '--etcd-servers=http://127.0.0.1:1'],
  'etcd-count-metric-poll-period': ['0s'],
  'etcd-db-metric-poll-interval': ['0s'],
  'etcd-healthcheck-timeout': ['1s', '--etcd-servers=http://127.0.0.1:1'],
  'etcd-keyfile': ['F/pki/admin.key', '--etcd-certfile=F/pki/admin.crt', '--etcd-servers=https://127.0.0.1:1'],
  'etcd-prefix': ['/other', '--etcd-servers=http://127.0.0.1:1'],
  'etcd-readycheck-timeout': ['1s', '--etcd-servers=http://127.0.0.1:1'],
  'etcd-servers': ['http://127.0.0.1:1'],
  'etcd-servers-overrides': ['/events#http://127.0.0.1:1;http://127.0.0.2:1', '--etcd-servers=http://127.0.0.1:1'],
  'event-ttl': ['1m'],
  'external-hostname': ['a.example'],
  'feature-gates': ['CBORServingAndStorage=true'],
  'goaway-chance': ['0.02'],
  'http2-max-streams-per-connection': ['7'],
  'kubelet-certificate-authority': ['F/pki/ca.crt'],
  'kubelet-client-certificate': ['F/pki/admin.crt', '--kubelet-client-key=F/pki/admin.key'],
  'kubelet-client-key': ['F/pki/admin.key', '--kubelet-client-certificate=F/pki/admin.crt'],
  'kubelet-port': ['10251'],
  'kubelet-preferred-address-types': ['InternalIP,Hostname'],
  'kubelet-read-only-port': ['0'],
  'kubelet-timeout': ['1s'],
  'kubernetes-service-node-port': ['30001'],
  'lease-reuse-duration-seconds': ['0'],
  'livez-grace-period': ['1s'],
  'log-flush-frequency': ['1s'],
  'log-json-info-buffer-size': ['1Mi', '--logging-format=json', '--feature-gates=LoggingAlphaOptions=true'],
  'log-json-split-stream': ['true', '--logging-format=json', '--feature-gates=LoggingAlphaOptions=true'],
  'log-text-info-buffer-size': ['1Mi', '--feature-gates=LoggingAlphaOptions=true'],
  'log-text-split-stream': ['true', '--feature-gates=LoggingAlphaOptions=true'],
  'logging-format': ['json'],
  'max-connection-bytes-per-sec': ['1000'],
  'max-mutating-requests-inflight': ['1'],
  'max-requests-inflight': ['1'],
  'min-compatibility-version': ['1.34'],
  'min-request-timeout': ['1'],
  'oidc-ca-file': ['F/pki/ca.crt', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-client-id': ['a', '--oidc-issuer-url=https://127.0.0.1:1'],
  'oidc-groups-claim': ['g', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-groups-prefix': ['g', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-issuer-url': ['https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-required-claim': ['a=b', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-signing-algs': ['ES256', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-username-claim': ['email', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'oidc-username-prefix': ['-', '--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=a'],
  'peer-advertise-ip': ['127.0.0.1'],
  'peer-advertise-port': ['6443'],
  'peer-ca-file': ['F/pki/ca.crt', '--proxy-client-cert-file=F/pki/admin.crt', '--proxy-client-key-file=F/pki/admin.key'],
  'permit-address-sharing': ['true'],
  'permit-port-sharing': ['true'],
  profiling: ['false'],
  'proxy-client-cert-file': ['F/pki/admin.crt', '--proxy-client-key-file=F/pki/admin.key'],
  'proxy-client-key-file': ['F/pki/admin.key', '--proxy-client-cert-file=F/pki/admin.crt'],
  'request-timeout': ['1s'],
  'requestheader-allowed-names': ['a'],
  'requestheader-client-ca-file': ['F/pki/front-proxy-ca.crt', '--requestheader-username-headers=X-Remote-User'],
  'requestheader-extra-headers-prefix': ['X-A-'],
  'requestheader-group-headers': ['X-G'],
  'requestheader-uid-headers': ['X-Remote-Uid'],
  'requestheader-username-headers': ['X-U'],
  'runtime-config': ['api/v1', 'api/all=true', 'v1=true', 'api/beta=true', 'apps/v1', 'apps/v1/deployments=true'],
  'runtime-config-emulation-forward-compatible': ['true', '--emulated-version=1.35'],
  'secure-port': ['6444'],
  'service-account-extend-token-expiration': ['false'],
  'service-account-issuer': ['https://a.example'],
  'service-account-jwks-uri': ['https://a.example/keys'],
  'service-account-key-file': ['F/pki/sa.pub'],
  'service-account-lookup': ['false'],
  'service-account-max-token-expiration': ['2h'],
  // Requires a running service; see test/integration/external-signer.test.ts.
  'service-account-signing-endpoint': [],
  'service-account-signing-key-file': ['F/pki/sa.key'],
  'service-cluster-ip-range': ['10.1.0.0/16'],
  'service-node-port-range': ['31000-31999'],
  'show-hidden-metrics-for-version': ['1.35'],
  'shutdown-delay-duration': ['1s'],
  'shutdown-send-retry-after': ['true'],
  'shutdown-watch-termination-grace-period': ['1s'],
  'storage-backend': ['etcd3', '--etcd-servers=http://127.0.0.1:1'],
  'storage-initialization-timeout': ['1s'],
  'storage-media-type': ['application/json', 'application/yaml'],
  'strict-transport-security-directives': ['max-age=1'],
  'tls-cert-file': ['F/pki/apiserver.crt', '--tls-private-key-file=F/pki/apiserver.key'],
  'tls-cipher-suites': ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  'tls-curve-preferences': ['23,29', '4588'],
  'tls-min-version': ['VersionTLS13'],
  'tls-private-key-file': ['F/pki/apiserver.key', '--tls-cert-file=F/pki/apiserver.crt'],
  'tls-sni-cert-key': ['F/pki/apiserver.crt,F/pki/apiserver.key'],
  'token-auth-file': ['F/tokens.csv'],
  'tracing-config-file': ['F/tracing.yaml'],
  v: ['4'],
  vmodule: ['a=1,b*=2'],
  'watch-cache': ['false'],
  'watch-cache-sizes': ['pods#0,deployments.apps#7'],
};

/** kube-apiserver's own flags, except --help and --version, which end the process, and --basic-auth-file, which it no longer has. */
const names = [...flagTable()]
  .filter(([, { section, hidden }]) => section !== 'Kubenest' && section !== 'Delegation' && !hidden)
  .map(([name]) => name)
  .filter((name) => !['help', 'version', 'basic-auth-file'].includes(name));

test('there is a value of each flag of kube-apiserver', () => {
  expect(names.filter((name) => !(name in values))).toEqual([]);
});

const cases = Object.entries(values).flatMap(([name, [first, ...others]]) => {
  if (first === undefined) return [];
  const needed = others.filter((other) => other.startsWith('--'));
  const more = others.filter((other) => !other.startsWith('--'));
  return [first, ...more].map((value) => [`--${name}=${value}`, ...needed].join(' '));
});

test.each(cases)('%s', async (line) => {
  const command = await readServerOptions(['--ephemeral', ...line.replaceAll('F/', `${folder}/`).split(' ')], 'kube-apiserver');
  if (!('options' in command)) throw new Error('no options');
  const completed = await completeOptions(command.options);
  await completed.dispose();
});
