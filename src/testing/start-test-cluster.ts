import { randomBytes } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Contribution } from '#apiserver/plugins/contribute';
import { newPackageServices } from '#apiserver/plugins/package-services';
import type { PluginGuard } from '#apiserver/plugins/guard-admission';
import { describe } from '#apiserver/base/contribution';
import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { readPluginConfiguration } from '#apiserver/plugins/read-configuration';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import { systemClock } from '#apiserver/base/clock';
import { feedOf } from '#apiserver/storage/cacher/feed';
import type { Http2Implementation } from '#apiserver/serving/http2-server';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { type App, createApp } from '#cmd/app';
import { selectedControllers } from '#cmd/builtin-controllers';
import { createObject } from '#cmd/objects/create-object';
import { loadSimulatedNodes } from '#cmd/simulated-nodes';
import { AdmissionOptions } from '#cmd/options/admission-options';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerConfig, StorageConfig } from '#cmd/server-config';
import { type KubeletSides, kubeletSides } from './kubelet-certificates.ts';
import type { TestRequest } from './test-request.ts';
import { serviceAccountTokens } from './service-account-key.ts';
import { issueServingCertificate } from './serving-certificate.ts';
import { hashToken } from '#plugins/authentication/token-auth';

/** Maximum time in milliseconds to wait for watch events of the store, in addition to its responses. */
const followMs = 1_000;

export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

export interface ConfiguredPlugin {
  readonly plugin: Contribution;
  /** Read and validated as the server reads `configuration` of a package. Default: the defaults of the plugin's class. */
  readonly configuration?: object | undefined;
  /** Failure handling, as `timeout` and `failurePolicy` of a package configure it. Default: 10 s, Fail. */
  readonly guard?: Partial<PluginGuard> | undefined;
  /** Name of the package that messages, logs and metrics show. Default: none. */
  readonly package?: string | undefined;
}

/**
 * A file of the embedded store, or a Redis or etcd server, which may be shared. `prefix` applies to all keys; clusters with the same prefix
 * share one store.
 */
export type TestStorage =
  | { readonly file: string }
  | { readonly redisUrl: string; readonly prefix?: string | undefined }
  | { readonly etcdUrl: string; readonly prefix?: string | undefined };

export interface TestClusterOptions {
  /** Storage of the objects. Default: the server in `KUBENEST_TEST_STORAGE` (see `storageOfEnvironment`), else memory. */
  readonly storage?: TestStorage | undefined;
  /** Listens on a free port of 127.0.0.1 with its own certificate. Otherwise requests use only `fetch`, which needs no socket. */
  readonly listen?: boolean | undefined;
  /**
   * Objects that `admin` creates in this order, with their status, before the promise resolves. A CustomResourceDefinition may be followed
   * by objects of its kinds.
   */
  readonly objects?: readonly (KubeObject & { readonly status?: object })[] | undefined;
  /** Users in addition to `admin`, who is a member of system:masters. */
  readonly users?: readonly TestUser[] | undefined;
  /** Contributions of packages, such as the plugin under test, optionally with a configuration. */
  readonly plugins?: readonly (Contribution | ConfiguredPlugin)[] | undefined;
  /** Controllers that run in the server, as `--controllers` names them (`*`: all that run by default). Default: none. */
  readonly controllers?: readonly string[] | undefined;
  /** Number of simulated nodes, on which the scheduler places pods. Default: 0, without a scheduler. Their kubelets listen on 127.0.0.1. */
  readonly nodes?: number | undefined;
  /** Flags as on the command line (`--enable-admission-plugins=ServiceAccount`). Rejects with all problems if any is invalid. */
  readonly flags?: readonly string[] | undefined;
  /** Logs only errors, for tests that provoke warnings. */
  readonly quiet?: boolean | undefined;
  /** Members of the configuration, such as keys for which flags would name files. */
  readonly config?: Partial<ServerConfig> | undefined;
}

/** An API server for one test: it runs in the test's process, with real semantics, until `await using` disposes of it. */
export interface TestCluster extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`; undefined without `listen`. */
  readonly url: string | undefined;
  /** CA of the serving certificate, in PEM; undefined without `listen`. */
  readonly certificateAuthority: string | undefined;
  /** Returns a kubeconfig (YAML, in JSON form) for a user, by default `admin`. Throws without `listen`. */
  kubeconfig(user?: string): string;
  /** Returns a KubeConfig of @kubernetes/client-node, which the test must install. Throws without `listen`. */
  kubeConfig(user?: string): Promise<import('@kubernetes/client-node').KubeConfig>;
  /**
   * Like fetch, for paths, as a user (default `admin`; null is anonymous): runs the whole handler chain without a connection. The effects
   * of a write (policies, roles, quotas) apply to the next request on every backend.
   */
  fetch(path: string, init?: TestRequest): Promise<Response>;
  /** Returns the token of a user. Throws for an unknown user. */
  token(user: string): string;
  readonly app: App;
}

/**
 * Starts an API server inside this process. It is ready when the promise resolves; several may run side by side. Rejects if it cannot
 * start, or if one of `objects` is rejected.
 */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const tokens = new Map<string, string>();
  const users = new Map<string, UserInfo>();
  for (const user of [{ name: 'admin', groups: ['system:masters'] }, ...(options.users ?? [])] satisfies TestUser[]) {
    const token = randomBytes(16).toString('hex');
    tokens.set(user.name, token);
    users.set(hashToken(token), { groups: [], ...user });
  }
  const serving = options.listen ? await issueServingCertificate() : undefined;
  const config = testConfig(options, users, serving, await serviceAccountTokens());
  const flagged = options.flags?.length ? await withFlags(config, options.flags) : config;
  const configured = options.quiet ? { ...flagged, verbosity: -1 } : flagged;
  const controllers = selectedControllers(options.controllers ?? []);
  const rootCertificateAuthority = serving?.certificateAuthority;
  const kubelets = options.nodes ? await kubeletSides() : undefined;
  const plugins = [...(options.plugins ?? []).map(contributed), ...(kubelets ? await nodesOf(options, kubelets) : [])];
  const kubelet = kubelets?.client ?? configured.kubelet;
  const app = await createApp({ ...configured, controllers, rootCertificateAuthority, kubelet, ...options.config }, { plugins });
  try {
    const address = await app.start();
    app.startControllers();
    const cluster = new RunningCluster(app, tokens, address && `https://127.0.0.1:${address.port}`, serving?.certificateAuthority);
    for (const object of options.objects ?? []) await createObject((path, request) => cluster.fetch(path, request), object);
    return cluster;
  } catch (error) {
    await app.stop();
    throw error;
  }
}

/**
 * Returns a separate store on the server in `KUBENEST_TEST_STORAGE`: `redis:` and `rediss:` URLs are Redis, `http:` and `https:` etcd;
 * undefined if the variable is not set. Tests run unchanged on any backend.
 */
function storageOfEnvironment(): TestStorage | undefined {
  const url = process.env['KUBENEST_TEST_STORAGE'];
  if (!url) return undefined;
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  if (/^rediss?:/.test(url)) return { redisUrl: url, prefix };
  if (/^https?:/.test(url)) return { etcdUrl: url, prefix };
  throw new Error(
    `invalid KUBENEST_TEST_STORAGE ${JSON.stringify(url)}: expected a redis: or rediss: URL, or an http: or https: URL of etcd`,
  );
}

function storageConfig(storage = storageOfEnvironment()): StorageConfig {
  if (storage && 'redisUrl' in storage) return { backend: 'redis', url: storage.redisUrl, prefix: storage.prefix };
  if (storage && 'etcdUrl' in storage)
    return {
      backend: 'etcd',
      servers: [storage.etcdUrl],
      prefix: storage.prefix,
      mediaType: 'application/vnd.kubernetes.protobuf',
      healthTimeoutMs: 2_000,
      readyTimeoutMs: 2_000,
    };
  return { backend: 'embedded', file: storage?.file };
}

async function nodesOf({ nodes: count }: TestClusterOptions, { kubelet }: KubeletSides): Promise<LoadedContribution[]> {
  const { NodeShape } = await import('#plugins/nodes/options');
  return loadSimulatedNodes({ nodes: [Object.assign(new NodeShape(), { count })], kubelet });
}

function contributed(plugin: Contribution | ConfiguredPlugin): LoadedContribution {
  if (!('plugin' in plugin)) return contributionOf(plugin);
  const loaded = contributionOf(plugin.plugin, configurationOf(plugin));
  const guarded = { ...loaded, guard: { ...loaded.guard, ...plugin.guard } };
  if (plugin.package === undefined) return guarded;
  const origin = { package: plugin.package };
  return { ...guarded, origin, make: (services) => loaded.make(newPackageServices(services, origin)) };
}

/** Throws a ConfigurationError with all problems. */
function configurationOf({ plugin, configuration }: ConfiguredPlugin): object | undefined {
  const described = describe(plugin);
  return described && readPluginConfiguration(described.options, configuration);
}

function testConfig(
  options: TestClusterOptions,
  tokens: ReadonlyMap<string, UserInfo>,
  serving: Awaited<ReturnType<typeof issueServingCertificate>> | undefined,
  { serviceAccounts, accepted }: Awaited<ReturnType<typeof serviceAccountTokens>>,
): ServerConfig {
  return {
    storage: storageConfig(options.storage),
    serving: serving && {
      bindAddress: '127.0.0.1',
      port: 0,
      certificate: serving,
      sniCertificates: [],
      clientCa: undefined,
      minVersion: 'TLSv1.2',
      cipherSuites: [],
      disableHttp2: false,
      http2Server: (process.env['KUBENEST_TEST_HTTP2_SERVER'] ?? 'own') as Http2Implementation,
      maxConcurrentStreams: 100,
      workers: Number(process.env['KUBENEST_TEST_SERVING_WORKERS'] ?? 0),
    },
    authentication: { anonymous: true, clientCa: undefined, tokens, serviceAccounts: accepted },
    serviceAccounts,
    authorization: { authorizers: [{ type: 'RBAC' }] },
    // No controller creates the service accounts that this plugin requires; envtest disables it too.
    admission: new AdmissionOptions().enabledPlugins(true),
    requests: {
      timeoutMs: 60_000,
      maxInFlight: 400,
      maxMutatingInFlight: 200,
      priorityAndFairness: true,
      goawayChance: 0,
      hstsDirectives: [],
      corsAllowedOrigins: [],
    },
    shutdown: { shutdownDelayMs: 0, sendRetryAfter: false, watchGraceMs: 0, drainMs: 5_000 },
    verbosity: 0,
    // Same setting as envtest.
    allowPrivileged: true,
    eventTtlSeconds: 3600,
    serviceClusterIpRange: '10.0.0.0/24',
  };
}

/** Applies flags to the configuration; storage, port and users stay those of the test cluster. */
async function withFlags(own: ServerConfig, flags: readonly string[]): Promise<ServerConfig> {
  const command = await readServerOptions(['--ephemeral', ...flags]);
  if (!('options' in command)) throw new Error(`a test cluster does not support the flag ${Object.keys(command).join()}`);
  const completed = await completeOptions(command.options);
  await completed.dispose();
  const { storage, authentication } = own;
  const flagged = completed.config.authentication;
  const isAsked = (name: string): boolean => flags.some((flag) => flag.startsWith(`--${name}=`));
  const clientCa = isAsked('client-ca-file') ? flagged.clientCa : undefined;
  const workers = isAsked('serving-workers') ? completed.config.serving?.workers : own.serving?.workers;
  const http2Server = isAsked('http2-server') ? completed.config.serving?.http2Server : own.serving?.http2Server;
  return {
    ...completed.config,
    // A signing key does not enable the plugin, since no controller creates the accounts. Its own flag does.
    admission: command.options.admission.enabledPlugins(true),
    storage: { ...storage, encryption: completed.config.storage.encryption },
    serving: own.serving && { ...own.serving, clientCa, workers, http2Server },
    authentication: { ...flagged, clientCa, tokens: new Map([...(flagged.tokens ?? []), ...(authentication.tokens ?? [])]) },
  };
}

/** Returns how a cache differs from the storage; undefined if it does not, or if one of them cannot be read any more. */
async function differenceOf({ group, resource, cacher }: GroupResource & { readonly cacher: Cacher }): Promise<string | undefined> {
  try {
    const { revision, cacheDigest, storageDigest } = await cacher.checkConsistency();
    return cacheDigest === storageDigest
      ? undefined
      : `the cache of ${groupResourceString({ group, resource })} differs from the storage at revision ${revision}`;
  } catch {
    return undefined;
  }
}

class RunningCluster implements TestCluster {
  constructor(
    readonly app: App,
    readonly tokens: ReadonlyMap<string, string>,
    readonly url: string | undefined,
    readonly certificateAuthority: string | undefined,
  ) {}

  token(user: string): string {
    const token = this.tokens.get(user);
    if (token === undefined) throw new Error(`unknown user ${JSON.stringify(user)}: add it to \`users\``);
    return token;
  }

  kubeconfig(user = 'admin'): string {
    if (!this.url || !this.certificateAuthority) throw new Error('the test cluster has no port: start it with `listen: true`');
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [
        {
          name: 'test',
          cluster: { server: this.url, 'certificate-authority-data': Buffer.from(this.certificateAuthority).toString('base64') },
        },
      ],
      users: [{ name: user, user: { token: this.token(user) } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    });
  }

  async kubeConfig(user = 'admin'): Promise<import('@kubernetes/client-node').KubeConfig> {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromString(this.kubeconfig(user));
    return config;
  }

  async fetch(path: string, { method, headers = {}, body, as = 'admin', signal }: TestRequest = {}): Promise<Response> {
    const bytes =
      body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const sent: Record<string, string> = { accept: 'application/json' };
    if (bytes) sent['content-type'] = 'application/json';
    if (as !== null) sent['authorization'] = `Bearer ${this.token(as)}`;
    for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = value;
    const verb = method ?? (bytes ? 'POST' : 'GET');
    const exchange = new InProcessExchange({ method: verb, url: path, headers: sent, body: bytes, signal });
    this.app.server.serve(exchange);
    const response = await exchange.response;
    if (verb !== 'GET' && response.ok) await this.#followed();
    return response;
  }

  /** Resolves when watch events of all writes were delivered; if the store does not respond, after a timeout. */
  async #followed(): Promise<void> {
    const { storage } = this.app.storage;
    const feed = feedOf(storage);
    if (feed.isImmediate) return;
    const revision = await storage.currentRevision().catch(() => 0);
    await feed.waitFor(revision, followMs, systemClock);
    // The caches deliver events in a later event loop turn.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Stops the server. Rejects if a cache differs from the storage, which is a bug of the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    const checked = Promise.all([...this.app.storage.resources].map(differenceOf));
    const differences = await Promise.race([
      checked,
      new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), followMs).unref()),
    ]);
    await this.app.stop();
    const found = differences?.filter((one) => one !== undefined) ?? [];
    if (found.length > 0) throw new Error(found.join('; '));
  }
}
