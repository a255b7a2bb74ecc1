import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FlagSpec, flagTable, isOwnFlag } from './flag-table.ts';
import { flagDescriptions } from './flag-descriptions.ts';
import { describedFlags, serverHelp } from './help.ts';
import { inertFlags } from './inert-flags.ts';
import { inertGates } from './inert-gates.ts';
import { ServerOptions } from './server-options.ts';
import { readServerOptions, targetsOf } from './read-server-options.ts';
import type { ServerName } from './server-name.ts';
import { OptionsError } from './options-error.ts';
import { readTable } from './tables.ts';

/** Values other than the default, for flags whose type alone does not determine one. */
const anotherValue: Readonly<Record<string, string>> = { vmodule: 'a=1', 'show-hidden-metrics-for-version': '1.35' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-options-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(...args: string[]): Promise<ServerOptions> {
  const command = await readServerOptions(args);
  if (!('options' in command)) throw new Error('no options');
  return command.options;
}

async function problemsOf(...args: string[]): Promise<readonly string[]> {
  return read(...args).then(
    () => [],
    (error: unknown) => {
      if (error instanceof OptionsError) return error.problems;
      throw error;
    },
  );
}

describe('accepted', () => {
  test.each<[name: string, args: string[], want: (options: ServerOptions) => unknown, value: unknown]>([
    ['no flags: loopback', [], ({ serving }) => [serving.bindAddress, serving.securePort], ['127.0.0.1', 6443]],
    ['no flags: RBAC', [], ({ authorization }) => authorization.authorizationMode, ['RBAC']],
    ['--flag=value', ['--secure-port=7443'], ({ serving }) => serving.securePort, 7443],
    ['--flag value', ['--secure-port', '7443'], ({ serving }) => serving.securePort, 7443],
    ['underscores', ['--secure_port=7443'], ({ serving }) => serving.securePort, 7443],
    ['the last of two', ['--secure-port=1', '--secure-port=2'], ({ serving }) => serving.securePort, 2],
    ['-v=3', ['-v=3'], ({ logging }) => logging.v, 3],
    ['-v 3', ['-v', '3'], ({ logging }) => logging.v, 3],
    ['-v3', ['-v3'], ({ logging }) => logging.v, 3],
    ['--v=3', ['--v=3'], ({ logging }) => logging.v, 3],
    ['a bare boolean', ['--ephemeral'], ({ data }) => data.ephemeral, true],
    ['a boolean by value', ['--anonymous-auth=f'], ({ authentication }) => authentication.anonymousAuth, false],
    ['a duration', ['--request-timeout=1m30s'], ({ requests }) => requests.requestTimeout, 90_000],
    ['a fraction', ['--goaway-chance=.001'], ({ requests }) => requests.goawayChance, 0.001],
    [
      'lists by comma and by repetition',
      ['--strict-transport-security-directives=max-age=3,preload', '--strict-transport-security-directives=includeSubDomains'],
      ({ requests }) => requests.strictTransportSecurityDirectives,
      ['max-age=3', 'preload', 'includeSubDomains'],
    ],
    [
      'quoted items with commas',
      ['--cors-allowed-origins="//a{1,2}$",//b$'],
      ({ requests }) => requests.corsAllowedOrigins,
      ['//a{1,2}$', '//b$'],
    ],
    [
      "local-up-cluster's origins",
      ['--cors-allowed-origins=/127.0.0.1(:[0-9]+)?$,/localhost(:[0-9]+)?$'],
      ({ requests }) => requests.corsAllowedOrigins.length,
      2,
    ],
    [
      'an empty value, which is unset',
      ['--authorization-mode=', '--event-ttl=', '--tls-cert-file='],
      ({ events }) => events.eventTtl,
      3_600_000,
    ],
    [
      'empty values of flags, some without an effect',
      ['--audit-log-path=', '--service-account-issuer=', '--vmodule=', '--etcd-servers='],
      () => 0,
      0,
    ],
    ['empty values of flags of earlier versions', ['--cloud-provider=', '--cloud-config='], () => 0, 0],
    ['defaults of flags, some without an effect', ['--watch-cache=true', '--audit-log-maxage=366', '--etcd-prefix=/registry'], () => 0, 0],
    [
      'a default in another notation',
      ['--etcd-compaction-interval=300s', '--audit-webhook-batch-throttle-qps=10.0', '--kubelet-timeout=5000ms'],
      () => 0,
      0,
    ],
    [
      'CBOR behind its gate',
      ['--feature-gates=CBORServingAndStorage=true'],
      ({ features }) => features.gates().enabled('CBORServingAndStorage'),
      true,
    ],
    ['feature gates at their default', ['--feature-gates=AllAlpha=false,AllBeta=false,WatchList=true'], () => 0, 0],
    [
      'no feature gates',
      ['--feature-gates=', '--storage-media-type='],
      ({ storage }) => storage.storageMediaType,
      'application/vnd.kubernetes.protobuf',
    ],
    ['embedded by name', ['--storage-backend=embedded'], ({ storage }) => storage.storageBackend, 'embedded'],
    [
      'a plugin that is off',
      ['--disable-admission-plugins=NamespaceLifecycle,ServiceAccount'],
      ({ admission }) => admission.enabledPlugins(false).includes('NamespaceLifecycle'),
      false,
    ],
    [
      'a plugin that is on anyway',
      ['--enable-admission-plugins=NamespaceLifecycle'],
      ({ admission }) => admission.enabledPlugins(false)[0],
      'NamespaceLifecycle',
    ],
    ['no service accounts on a server of its own', [], ({ admission }) => admission.enabledPlugins(true).includes('ServiceAccount'), false],
    [
      'service accounts beside a controller manager',
      [],
      ({ admission }) => admission.enabledPlugins(false).includes('ServiceAccount'),
      true,
    ],
    [
      'service accounts by name',
      ['--enable-admission-plugins=ServiceAccount'],
      ({ admission }) => admission.enabledPlugins(true).includes('ServiceAccount'),
      true,
    ],
    [
      'a certificate for a name',
      ['--tls-sni-cert-key=a.crt,a.key:x.example,*.y.example'],
      ({ serving }) => serving.tlsSniCertKey,
      ['a.crt,a.key:x.example,*.y.example'],
    ],
    [
      'two ranges of services',
      ['--service-cluster-ip-range=10.0.0.0/24,fd00::/112'],
      ({ services }) => services.firstServiceIp(),
      '10.0.0.1',
    ],
    ['a range of ports by its size', ['--service-node-port-range=30000+99'], ({ services }) => services.serviceNodePortRange, '30000+99'],
    ['an old protocol', ['--tls-min-version=VersionTLS10'], ({ serving }) => serving.tlsMinVersion, 'VersionTLS10'],
    [
      'labels with several values',
      ['--allow-metric-labels=apiserver_request_total,verb=GET,LIST'],
      ({ metrics }) => [...metrics.allowMetricLabels],
      [['apiserver_request_total,verb', 'GET,LIST']],
    ],
    [
      'several labels at once',
      ['--allow-metric-labels="a,b=GET,LIST","a,c=200"'],
      ({ metrics }) => [...metrics.allowMetricLabels],
      [
        ['a,b', 'GET,LIST'],
        ['a,c', '200'],
      ],
    ],
    ['a flag under its old name', ['--audit-webhook-batch-initial-backoff=1s'], ({ audit }) => audit.auditWebhookInitialBackoff, 1_000],
    ['gates of other components', ['--feature-gates=EventedPLEG=true,SchedulerAsyncPreemption=false'], () => 0, 0],
    ['profiling', ['--profiling=false'], ({ features }) => features.profiling, false],
    ['an etcd without a backend', ['--etcd-servers=http://a:2379'], ({ storage }) => storage.storageBackend, 'etcd3'],
    [
      'an etcd with the backend of a script that sets none',
      ['--storage-backend=', '--etcd-servers=http://a:2379'],
      ({ storage }) => storage.storageBackend,
      'etcd3',
    ],
    ['empty arguments of a script', ['', '--secure-port=1', ''], ({ serving }) => serving.securePort, 1],
  ])('%s', async (_name, args, want, value) => {
    expect(want(await read(...args))).toEqual(value);
  });
});

describe('refused', () => {
  test.each<[name: string, args: string[], problems: string[]]>([
    ['an unknown flag', ['--secure-prt=1'], ['unknown flag: --secure-prt; did you mean --secure-port?']],
    ['an unknown flag without a similar name', ['--zzzzzzzzzz'], ['unknown flag: --zzzzzzzzzz']],
    ['an unknown letter', ['-x'], ['unknown shorthand flag: "x" in -x']],
    ['a missing value', ['--secure-port'], ['flag needs an argument: --secure-port']],
    ['arguments', ['serve', '--', '--x'], ['unexpected positional arguments: "serve" "--x"']],
    ['an invalid number', ['--secure-port=http'], ['invalid argument "http" for --secure-port: must be a whole number']],
    ['an invalid boolean', ['--ephemeral=yes'], ['invalid argument "yes" for --ephemeral: must be true or false']],
    ['an invalid duration', ['--event-ttl=1x'], ['invalid argument "1x" for --event-ttl: time: unknown unit "x" in duration "1x"']],
    ['an invalid address', ['--bind-address=localhost'], ['invalid argument "localhost" for --bind-address: must be an IP address']],
    [
      'a port out of range',
      ['--secure-port=70000'],
      ['--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0'],
    ],
    ['labels without their metric', ['--allow-metric-labels=verb=GET'], ['--allow-metric-labels: "verb" must be of the form METRIC,LABEL']],
    ['an invalid metric name', ['--disabled-metrics=a b'], ['--disabled-metrics: "a b" must be the fully qualified name of a metric']],
    [
      'an audit log without a policy',
      ['--audit-log-path=/tmp/audit.log'],
      ['--audit-log-path is set but no --audit-policy-file is: nothing would be audited'],
    ],
    ['redis without its address', ['--storage-backend=redis'], [expect.stringContaining('needs --redis-url=redis://')]],
    ['a redis URL with another backend', ['--redis-url=redis://a:1'], ['--redis-url is for --storage-backend=redis']],
    [
      'redis flags with another backend',
      ['--redis-accept-data-loss', '--redis-key-prefix=x'],
      ['--redis-key-prefix is for --storage-backend=redis', '--redis-accept-data-loss is for --storage-backend=redis'],
    ],
    [
      'a flag of another backend',
      ['--storage-backend=embedded', '--etcd-prefix=/x', '--etcd-servers=http://a:2379'],
      ['--etcd-servers is for --storage-backend=etcd3', '--etcd-prefix is for --storage-backend=etcd3'],
    ],
    ['an etcd without servers', ['--storage-backend=etcd3'], ['--etcd-servers must be specified']],
    [
      'an invalid server URL',
      ['--storage-backend=etcd3', '--etcd-servers=a:2379'],
      ['--etcd-servers: "a:2379" must be http://HOST:PORT, https://HOST:PORT or unix://PATH'],
    ],
    ['an unknown gate', ['--feature-gates=WatchLits=true'], ['unrecognized feature gate: WatchLits; did you mean WatchList?']],
    ['a gate without a value', ['--feature-gates=WatchList'], ['missing bool value for WatchList']],
    [
      'a gate that is locked',
      ['--feature-gates=APIServerTracing=false'],
      ['cannot set feature gate APIServerTracing to false, feature is locked to true'],
    ],
    [
      'a certificate for extension servers without its key, and a key without its certificate',
      ['--proxy-client-key-file=/x'],
      ['--proxy-client-cert-file and --proxy-client-key-file must be given together'],
    ],
    [
      'a gate without the one that it needs',
      ['--feature-gates=GangScheduling=true'],
      ['GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]'],
    ],
    [
      'gates with and without their component',
      ['--feature-gates=kube:WatchList=false,WatchListClient=false'],
      ['set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'],
    ],
    [
      'an unknown plugin',
      ['--enable-admission-plugins=NamespaceLivecycle'],
      ['enable-admission-plugins plugin "NamespaceLivecycle" is unknown; did you mean NamespaceLifecycle?'],
    ],
    [
      'a plugin on and off',
      ['--enable-admission-plugins=NamespaceLifecycle', '--disable-admission-plugins=NamespaceLifecycle'],
      ['NamespaceLifecycle in enable-admission-plugins and disable-admission-plugins overlapped'],
    ],
    ['an unknown mode', ['--authorization-mode=rbac'], ['authorization-mode "rbac" is not a valid mode']],
    ['a mode twice', ['--authorization-mode=RBAC,RBAC'], ['authorization-mode ["RBAC","RBAC"] has mode specified more than once']],
    ['a certificate without its key', ['--tls-cert-file=a'], ['--tls-cert-file needs --tls-private-key-file']],
    [
      'an SNI certificate without its key',
      ['--tls-sni-cert-key=a:b'],
      ['--tls-sni-cert-key "a:b" must be of the form CERTFILE,KEYFILE or CERTFILE,KEYFILE:NAME,NAME'],
    ],
    ['an unknown suite', ['--tls-cipher-suites=TLS_X'], ["--tls-cipher-suites: cipher suite TLS_X not supported or doesn't exist"]],
    [
      'an insecure suite',
      ['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA'],
      ['--tls-cipher-suites: TLS_RSA_WITH_RC4_128_SHA is not served: the TLS library is built without it'],
    ],
    ['an unknown protocol', ['--tls-min-version=SSL3'], [expect.stringContaining('"SSL3" is unknown, it must be one of VersionTLS10')]],
    [
      'a range that is too large',
      ['--service-cluster-ip-range=10.0.0.0/8'],
      ['specified --service-cluster-ip-range is too large; for 32-bit addresses, the mask must be >= 12'],
    ],
    [
      'addresses for nodes without a range',
      ['--allocate-node-cidrs'],
      ['--allocate-node-cidrs needs the range of the pods: --cluster-cidr'],
    ],
    [
      'a range of pods that no node gets',
      ['--cluster-cidr=10.244.0.0/16'],
      ['--cluster-cidr has no effect without --allocate-node-cidrs=true'],
    ],
    [
      'an invalid range of pods',
      ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0'],
      ['--cluster-cidr "10.244.0.0" must be a CIDR such as 10.244.0.0/16'],
    ],
    [
      'two ranges of pods of one family',
      ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16,10.245.0.0/16'],
      ['--cluster-cidr must hold one CIDR, or two of different families'],
    ],
    [
      'a range of pods with too many parts',
      ['--allocate-node-cidrs', '--cluster-cidr=fd00::/40'],
      ['--node-cidr-mask-size-ipv6 64 must be between 40 and 56, as --cluster-cidr is fd00::/40'],
    ],
    [
      'an invalid range',
      ['--service-cluster-ip-range=10.0.0.0'],
      ['--service-cluster-ip-range "10.0.0.0" must be a CIDR such as 10.0.0.0/24'],
    ],
    [
      'two ranges of one family',
      ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'],
      ['--service-cluster-ip-range must hold values of different families'],
    ],
    [
      'a node port out of its range',
      ['--kubernetes-service-node-port=80'],
      ["kubernetes service node port range 30000-32767 doesn't contain 80"],
    ],
    [
      'an invalid port range',
      ['--service-node-port-range=9-8'],
      ['--service-node-port-range "9-8" must be of the form 30000-32767 or 30000+2767'],
    ],
    ['an issuer twice', ['--service-account-issuer=a', '--service-account-issuer=a'], ['service-account-issuer "a" is already specified']],
    [
      'an origin that is not pinned (CVE-2022-1996)',
      ['--cors-allowed-origins=example.com'],
      [
        '--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header',
      ],
    ],
    [
      'headers of UIDs without their feature',
      ['--requestheader-uid-headers=X-Remote-Uid', '--feature-gates=RemoteRequestHeaderUID=false'],
      ['--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled'],
    ],
    [
      'everything at once',
      ['--secure-port=0', '--goaway-chance=1', '--oidc-issuer-url=x', '--nope-nope-nope'],
      [
        'unknown flag: --nope-nope-nope',
        '--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0',
        'oidc-issuer-url "x" must be an https URL',
        '--goaway-chance can not be less than 0 or greater than 0.02',
        'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
      ],
    ],
  ])('%s', async (_name, args, problems) => {
    expect(await problemsOf(...args)).toEqual(problems);
  });
});

test('kube-apiserver listens on all addresses unless a flag overrides that', async () => {
  const addressOf = async (...args: string[]): Promise<string | undefined> => {
    const command = await readServerOptions(args, 'kube-apiserver');
    return 'options' in command ? command.options.serving.bindAddress : undefined;
  };
  expect([await addressOf(), await addressOf('--bind-address='), await addressOf('--bind-address=::1')]).toEqual([
    '0.0.0.0',
    '0.0.0.0',
    '::1',
  ]);
  const shown = (name: ServerName): string | undefined => /--bind-address ip .*/.exec(serverHelp(name))?.[0];
  expect([shown('kube-apiserver'), shown('kubenest serve')]).toEqual([
    '--bind-address ip  (default 0.0.0.0)',
    '--bind-address ip  (default 127.0.0.1)',
  ]);
});

/** Returns the default of a flag that upstream does not have, as text. */
function ownDefaultOf(name: string): string {
  return describedFlags('kube-apiserver').find((flag) => flag.name === name)?.default ?? '';
}

test('every flag is accepted at its default', async () => {
  // kube-apiserver also requires an issuer if one of these flags is set, whatever its value.
  const needsIssuer = new Set(['oidc-signing-algs', 'oidc-username-claim']);
  const args = [...flagTable()]
    .filter(([name, { type, defaultText }]) => type !== 'version' && defaultText === undefined && !needsIssuer.has(name))
    .map(([name, spec]) => `--${name}=${isOwnFlag(name) ? ownDefaultOf(name) : spec.default}`);
  expect(args.length).toBeGreaterThan(175);
  expect(await problemsOf(...args)).toEqual([]);
});

test.each<[gates: string, on: string[], off: string[]]>([
  ['', ['WatchList'], ['HPAScaleToZero', 'MaxUnavailableStatefulSet']],
  ['WatchList=false', [], ['WatchList']],
  ['kube:WatchList=false', [], ['WatchList']],
  ['AllAlpha=true', ['AllAlpha', 'HPAScaleToZero', 'WatchList'], ['MaxUnavailableStatefulSet', 'KMSv1']],
  ['AllAlpha=true,HPAScaleToZero=false', ['GenericWorkload'], ['HPAScaleToZero']],
  ['AllBeta=true', ['MaxUnavailableStatefulSet'], ['HPAScaleToZero']],
  ['AllBeta=false', ['APIServerTracing', 'MutatingAdmissionPolicy'], ['WatchList', 'OpenAPIEnums']],
  ['AllBeta=false,WatchList=true', ['WatchList'], ['OpenAPIEnums']],
])('--feature-gates=%s', async (gates, on, off) => {
  const features = (await read(`--feature-gates=${gates}`)).features.gates();
  expect([on.map((name) => features.enabled(name)), off.map((name) => features.enabled(name))]).toEqual([
    on.map(() => true),
    off.map(() => false),
  ]);
});

test('the server logs which gates have no effect on it, and none of other components', async () => {
  const warnings = async (gates: string): Promise<string[]> => (await read(`--feature-gates=${gates}`)).warnings();
  const [inert] = inertGates;
  const { default: usual } = readTable<Record<string, { default: boolean }>>('feature-gates')[inert as string] ?? { default: false };
  expect(await warnings(`${inert}=${!usual}`)).toEqual([`--feature-gates has no effect here on ${inert}`]);
  expect(await warnings(`${inert}=${usual},EventedPLEG=true,WatchListClient=false`)).toEqual([]);
});

test('every flag has an effect, or the server logs why it has none', async () => {
  const targets = targetsOf(new ServerOptions());
  const without = [...flagTable().keys()].filter((name) => !targets.has(name) && !['config', 'help', 'version'].includes(name));
  expect(without.filter((name) => !inertFlags.has(name))).toEqual([]);
  expect([...inertFlags.keys()].filter((name) => targets.has(name) || !flagTable().has(name))).toEqual([]);
  for (const name of without) {
    const { type, default: text } = flagTable().get(name) as FlagSpec;
    const other = anotherValue[name] ?? (type === 'bool' ? String(text !== 'true') : type === 'duration' ? '7m' : '7');
    expect((await read(`--${name}=${other}`)).warnings(), name).toEqual([`--${name} has no effect: ${inertFlags.get(name)?.reason}`]);
    expect((await read(`--${name}=${text}`)).warnings(), name).toEqual([]);
  }
});

test('every flag of an options class is in the flag table', () => {
  const known = flagTable();
  expect([...targetsOf(new ServerOptions()).keys()].filter((name) => !known.has(name))).toEqual([]);
});

test('--help and --version take precedence over all other flags', async () => {
  expect(await readServerOptions(['--nope', '--help'])).toEqual({ help: true });
  expect(await readServerOptions(['-h'])).toEqual({ help: true });
  expect(await readServerOptions(['--version'])).toEqual({ version: true });
});

test('help lists each flag once, by section, and marks flags without an effect', () => {
  const lines = serverHelp('kube-apiserver').split('\n');
  expect(lines[0]).toBe('Usage: kube-apiserver [flags]');
  expect(lines).toContain('Secure serving flags:');
  expect(lines).toContain('         --secure-port int  (default 6443)');
  expect(lines).toContain('         --audit-log-maxage int  (default 366)');
  const shown = lines.filter((line) => /^ {3}[ *] .{4}--/.test(line)).length;
  expect(shown).toBe([...flagTable().values()].filter(({ hidden, deprecated }) => !hidden && !deprecated).length);
});

test('each flag in help has a sentence, and no sentence is of an unknown flag', () => {
  const flags = describedFlags('kube-apiserver');
  expect(flags.filter(({ description }) => !/^[A-Z].*\.$/.test(description)).map(({ name }) => name)).toEqual([]);
  const names = new Set(flags.map(({ name }) => name));
  expect(Object.keys(flagDescriptions).filter((name) => !names.has(name))).toEqual([]);
});

test('help shows the defaults of the options classes for flags that upstream does not have', () => {
  const defaults = new Map(describedFlags('kubenest serve').map((flag) => [flag.name, flag.default]));
  expect([defaults.get('data-dir'), defaults.get('http2-server'), defaults.get('ephemeral')]).toEqual(['./.kubenest', 'own', undefined]);
});

describe('--config', () => {
  const head = 'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\n';
  const withFile = async (text: string): Promise<string> => {
    const file = join(folder, 'server.yaml');
    await writeFile(file, text);
    return `--config=${file}`;
  };

  test('sets the same options; flags take precedence', async () => {
    const options = await read(
      await withFile(
        `${head}serving: { securePort: 7000, bindAddress: 0.0.0.0 }\nrequests: { requestTimeout: 30s, corsAllowedOrigins: ['//a$'] }\ndata: { ephemeral: true }\n`,
      ),
      '--secure-port=7001',
    );
    expect([
      options.serving.securePort,
      options.serving.bindAddress,
      options.requests.requestTimeout,
      options.requests.corsAllowedOrigins,
      options.data.ephemeral,
    ]).toEqual([7001, '0.0.0.0', 30_000, ['//a$'], true]);
  });

  test.each<[name: string, text: string, problem: string]>([
    ['another kind', 'kind: Pod', 'must be of kind ServerConfiguration, apiVersion kubenest.dev/v1alpha1'],
    ['an unknown concern', `${head}servin: {}`, 'servin is unknown; did you mean serving?'],
    ['an unknown option', `${head}serving: { securePrt: 1 }`, 'serving.securePrt is unknown; did you mean securePort?'],
    ['a wrong type', `${head}serving: { securePort: [1] }`, 'serving.securePort: must be one value, not a list'],
    ['a value that is not an object', `${head}serving: 1`, 'serving must be an object'],
    ['stages that are not a list', `${head}nodes: { stages: {} }`, 'nodes.stages must be a list of objects'],
    [
      'a stage that is not supported',
      `${head}nodes: { stages: [{ apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: { name: s }, spec: { resourceRef: { kind: Node } } }] }`,
      'nodes.stages[0]: stage s: resources of kind Node are not simulated by stages',
    ],
  ])('refuses %s', async (_name, text, problem) => {
    const flag = await withFile(text);
    expect(await problemsOf(flag)).toEqual([`--config ${flag.slice('--config='.length)}: ${problem}`]);
  });

  test('sets the shapes and the stages of simulated nodes', async () => {
    const stage = 'apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: { name: s }, spec: { resourceRef: { kind: Pod } }';
    const { nodes } = await read(await withFile(`${head}nodes: { nodes: 2, shapes: [{ count: 3 }], stages: [{ ${stage} }] }`));
    expect([nodes.nodes, nodes.shapes.map(({ count }) => count), nodes.stages.map(({ metadata }) => metadata?.name)]).toEqual([
      2,
      [3],
      ['s'],
    ]);
  });

  test('validates its values like those of flags', async () => {
    expect(await problemsOf(await withFile(`${head}serving: { securePort: 0 }`))).toEqual([
      '--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0',
    ]);
  });
});

test.each<[args: string[], isAllowed: boolean]>([
  [[], false],
  [['--nodes=2'], true],
  [['--nodes=2', '--allow-privileged=false'], false],
  [['--allow-privileged'], true],
])('privileged pods with %j: %j', async (args, isAllowed) => {
  expect((await read(...args)).pods.allowPrivileged).toBe(isAllowed);
});

test('a scheduler configuration requires simulated nodes', async () => {
  expect(await problemsOf('--scheduler-config=s.yaml')).toEqual([
    '--scheduler-config requires simulated nodes: --nodes, or nodes.shapes of the configuration file',
  ]);
  expect((await read('--scheduler-config=s.yaml', '--nodes=1')).nodes.schedulerConfig).toBe('s.yaml');
});
