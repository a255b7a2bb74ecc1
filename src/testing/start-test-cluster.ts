import { randomBytes } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Contribution } from '#apiserver/plugins/contribute';
import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import { systemClock } from '#apiserver/base/clock';
import { feedOf } from '#apiserver/storage/cacher/feed';
import type { Http2Implementation } from '#apiserver/serving/http2-server';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { type App, createApp } from '#cmd/app';
import { AdmissionOptions } from '#cmd/options/admission-options';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerConfig, StorageConfig } from '#cmd/server-config';
import { createObject } from './create-object.ts';
import type { TestRequest } from './test-request.ts';
import { serviceAccountTokens } from './service-account-key.ts';
import { issueServingCertificate } from './serving-certificate.ts';
import { hashToken } from '#plugins/authentication/token-auth';

/** What a test may wait for the store at most, besides its answers. */
const followMs = 1_000;

export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

export interface ConfiguredPlugin {
  readonly plugin: Contribution;
  readonly configuration: object;
}

/**
 * A file of the embedded store, or a redis or etcd server, which others may share. `prefix` is of all keys there; clusters of
 * one prefix have one store.
 */
export type TestStorage =
  | { readonly file: string }
  | { readonly redisUrl: string; readonly prefix?: string | undefined }
  | { readonly etcdUrl: string; readonly prefix?: string | undefined };

export interface TestClusterOptions {
  /** Where objects are kept. Default: what the environment's `KUBENEST_TEST_STORAGE` names (see `storageOfEnvironment`), else memory. */
  readonly storage?: TestStorage | undefined;
  /** Listen on a free port of 127.0.0.1 with a certificate of its own. Without it requests go through `fetch` only, which costs no socket. */
  readonly listen?: boolean | undefined;
  /**
   * Created as `admin`, in their order, before the cluster is handed out, with their status. After a CustomResourceDefinition there may be
   * objects of its kinds.
   */
  readonly objects?: readonly (KubeObject & { readonly status?: object })[] | undefined;
  /** Users besides `admin`, who is in system:masters. */
  readonly users?: readonly TestUser[] | undefined;
  /** What packages contribute, such as the plugin under test, alone or with its configuration (which is taken as it is). */
  readonly plugins?: readonly (Contribution | ConfiguredPlugin)[] | undefined;
  /** Flags as on the command line (`--enable-admission-plugins=ServiceAccount`). Rejects for those that are wrong, with all problems. */
  readonly flags?: readonly string[] | undefined;
  /** Log errors only: of tests that provoke what the server has to warn of. */
  readonly quiet?: boolean | undefined;
  /** Parts of the configuration as they are, such as keys that flags would name files for. */
  readonly config?: Partial<ServerConfig> | undefined;
}

/** A server of its own for one test: started in process, with real semantics, gone with `await using`. */
export interface TestCluster extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`; undefined without a port. */
  readonly url: string | undefined;
  /** The PEM of the authority behind the URL's certificate; undefined without a port. */
  readonly certificateAuthority: string | undefined;
  /** A kubeconfig (YAML, which is JSON) for a user, `admin` unless named. Throws without a port. */
  kubeconfig(user?: string): string;
  /** A configured KubeConfig of @kubernetes/client-node, which the test must have installed. */
  kubeConfig(user?: string): Promise<import('@kubernetes/client-node').KubeConfig>;
  /**
   * Like fetch, for paths, as a user (`admin` unless named; null is nobody): through the whole handler chain, without a connection.
   * What a write changes counts for the next request, on every backend: policies, roles, quotas.
   */
  fetch(path: string, init?: TestRequest): Promise<Response>;
  /** The token of a user. */
  token(user: string): string;
  readonly app: App;
}

/**
 * Starts an API server inside this process. Ready when it resolves; many may run side by side. Rejects if it cannot start,
 * or if one of `objects` is refused.
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
  const told = options.quiet ? { ...flagged, verbosity: -1 } : flagged;
  const app = await createApp({ ...told, ...options.config }, { plugins: options.plugins?.map(contributed) });
  try {
    const address = await app.start();
    const cluster = new RunningCluster(app, tokens, address && `https://127.0.0.1:${address.port}`, serving?.certificateAuthority);
    for (const object of options.objects ?? []) await createObject((path, request) => cluster.fetch(path, request), object);
    return cluster;
  } catch (error) {
    await app.stop();
    throw error;
  }
}

/**
 * A store of the cluster's own in the server whose URL `KUBENEST_TEST_STORAGE` has: `redis:` and `rediss:` for redis, `http:` and `https:`
 * for etcd. Undefined without the variable. So tests run on any backend without a change.
 */
function storageOfEnvironment(): TestStorage | undefined {
  const url = process.env['KUBENEST_TEST_STORAGE'];
  if (!url) return undefined;
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  if (/^rediss?:/.test(url)) return { redisUrl: url, prefix };
  if (/^https?:/.test(url)) return { etcdUrl: url, prefix };
  throw new Error(`KUBENEST_TEST_STORAGE is ${JSON.stringify(url)}, it must be a URL of redis: or rediss:, or http: or https: for etcd`);
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

function contributed(plugin: Contribution | ConfiguredPlugin): LoadedContribution {
  return 'plugin' in plugin ? contributionOf(plugin.plugin, plugin.configuration) : contributionOf(plugin);
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
    // No controller makes the service accounts that this plugin asks for (envtest switches it off, too).
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
    // As envtest has it.
    allowPrivileged: true,
    eventTtlSeconds: 3600,
    serviceClusterIpRange: '10.0.0.0/24',
  };
}

/** What the flags say, with the test cluster's own storage, port and users. */
async function withFlags(own: ServerConfig, flags: readonly string[]): Promise<ServerConfig> {
  const command = await readServerOptions(['--ephemeral', ...flags]);
  if (!('options' in command)) throw new Error(`the flags of a test cluster cannot ask for ${Object.keys(command).join()}`);
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
    // A key that is named does not bring the plugin: no controller makes the accounts. Who asks for it by its own flag has it.
    admission: command.options.admission.enabledPlugins(true),
    storage: { ...storage, encryption: completed.config.storage.encryption },
    serving: own.serving && { ...own.serving, clientCa, workers, http2Server },
    authentication: { ...flagged, clientCa, tokens: new Map([...(flagged.tokens ?? []), ...(authentication.tokens ?? [])]) },
  };
}

/** In what a cache differs from the storage; undefined also where one of them cannot be read any more. */
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
    if (token === undefined) throw new Error(`the test cluster has no user ${JSON.stringify(user)}: name it in \`users\``);
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

  /** Resolves when what was written has come to those who watch; of a store that is gone, a little later. */
  async #followed(): Promise<void> {
    const { storage } = this.app.storage;
    const feed = feedOf(storage);
    if (feed.isImmediate) return;
    const revision = await storage.currentRevision().catch(() => 0);
    await feed.waitFor(revision, followMs, systemClock);
    // The caches hand events on in a later turn.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Rejects where a cache did not have what the storage has: a bug of the server, whatever the test was about. */
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
