import type { ApiVersionDiscovery, DiscoverableGroup } from '#apiserver/endpoints/discovery/discovery-registry';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import { aggregatorUser } from './availability-controller.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { aggregatedVersions, classicResources, isAggregated, type RemoteVersions } from './remote-discovery.ts';

const accept = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`).join(',');
const timeoutMs = 5_000;
const refreshMs = 60_000;

/** A group version that another server answers for, as its APIService has it. */
export interface RemoteGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  readonly server: ExtensionServer;
}

export interface DiscoveryManagerOptions {
  /** Called with all groups after each change. */
  onChange(groups: readonly DiscoverableGroup[]): void;
  onError(error: unknown): void;
}

/**
 * Keeps what discovery shows of other servers: each is asked when one of its APIServices changes, and once a minute. A group
 * version whose server gives no answer is there without resources, and stale. Upstream: kube-aggregator/pkg/apiserver/handler_discovery.go.
 */
export class DiscoveryManager implements Disposable {
  readonly #remotes = new Map<string, RemoteGroupVersion>();
  readonly #answers = new Map<string, { readonly etag: string; readonly versions: RemoteVersions }>();
  readonly #entries = new Map<string, ApiVersionDiscovery>();
  readonly #queue: KeyedQueue;

  constructor(readonly options: DiscoveryManagerOptions) {
    this.#queue = new KeyedQueue({
      work: (key) => this.#fetch(key),
      firstRetryMs: 500,
      lastRetryMs: refreshMs,
      resyncMs: refreshMs,
      onError: options.onError,
    });
  }

  /** Of an APIService that came or changed; undefined when it is gone. */
  set(name: string, remote: RemoteGroupVersion | undefined): void {
    const before = this.#remotes.get(name);
    if (remote) {
      this.#remotes.set(name, remote);
      this.#queue.add(serverKey(remote.server));
    } else if (this.#remotes.delete(name)) {
      this.#entries.delete(name);
    } else return;
    if (before && this.#of(serverKey(before.server)).length === 0) {
      this.#answers.delete(serverKey(before.server));
      this.#queue.forget(serverKey(before.server));
    }
    this.#change();
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
  }

  #of(key: string): (readonly [string, RemoteGroupVersion])[] {
    return [...this.#remotes].filter(([, { server }]) => serverKey(server) === key);
  }

  async #fetch(key: string): Promise<boolean> {
    const [first] = this.#of(key);
    if (!first) return true;
    const versions = await this.#aggregated(key, first[1].server).catch(() => undefined);
    let isCurrent = true;
    for (const [name, remote] of this.#of(key)) {
      const { version } = remote;
      const entry = await this.#entry(remote, versions).catch((): ApiVersionDiscovery => ({ version, freshness: 'Stale' }));
      if (entry.freshness === 'Stale') isCurrent = false;
      if (this.#remotes.get(name) === remote) this.#entries.set(name, entry);
    }
    this.#change();
    return isCurrent;
  }

  /** What the server says of all it has; `none` if it knows no such form. Rejects if there is no answer. */
  async #aggregated(key: string, server: ExtensionServer): Promise<RemoteVersions | 'none'> {
    const known = this.#answers.get(key);
    const headers = { accept, ...(known?.etag && { 'if-none-match': known.etag }) };
    const answer = await server.get('/apis', { user: aggregatorUser, headers, timeoutMs });
    if (answer.status === 304 && known) return known.versions;
    if (answer.status === 503) throw new Error('service unavailable');
    if (answer.status !== 200 || !isAggregated(answer.contentType)) return 'none';
    const versions = aggregatedVersions(answer.body);
    if (this.#of(key).length > 0) this.#answers.set(key, { etag: answer.etag, versions });
    return versions;
  }

  async #entry(
    { group, version, server }: RemoteGroupVersion,
    versions: RemoteVersions | 'none' | undefined,
  ): Promise<ApiVersionDiscovery> {
    if (versions === undefined) return { version, freshness: 'Stale' };
    if (versions !== 'none') {
      const { resources } = versions.get(`${group}/${version}`) ?? {};
      return { version, ...(resources && { resources }), freshness: 'Current' };
    }
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const user = { name: aggregatorUser.name, groups: [] };
    const { status, body } = await server.get(path, { user, headers: { accept: 'application/json' }, timeoutMs });
    if (status !== 200) return { version, freshness: 'Stale' };
    return { version, resources: classicResources(group, version, body), freshness: 'Current' };
  }

  #change(): void {
    this.options.onChange(this.#groups());
  }

  #groups(): DiscoverableGroup[] {
    return [...this.#remotes].map(([name, { group, version, groupPriorityMinimum, versionPriority }]) => ({
      group,
      groupPriorityMinimum,
      versions: [{ version, versionPriority }],
      remote: new Map([[version, this.#entries.get(name) ?? { version, freshness: 'Stale' as const }]]),
    }));
  }
}

function serverKey({ namespace, name, port }: ExtensionServer): string {
  return `${namespace}/${name}:${port}`;
}
