import type { QueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { ApiVersionDiscovery } from '#apiserver/endpoints/discovery/aggregated-form';
import type { DiscoverableGroup } from '#apiserver/endpoints/discovery/discovery-registry';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import { aggregatorUser } from './availability-controller.ts';
import { everyMinute, KeyedQueue } from './keyed-queue.ts';
import { aggregatedVersions, classicResources, isAggregated, type RemoteVersions } from './remote-discovery.ts';

const accept = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`).join(',');
const timeoutMs = 5_000;

/** A group version that an extension server serves. */
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
  readonly queueMetrics?: QueueMetrics | undefined;
}

/**
 * Maintains the discovery of extension servers. Each APIService's server is queried after a change and once a minute. If it does not
 * answer, its group version is listed as stale, without resources. Upstream: kube-aggregator/pkg/apiserver/handler_discovery.go.
 */
export class DiscoveryManager implements Disposable {
  readonly #remotes = new Map<string, RemoteGroupVersion>();
  readonly #answers = new Map<string, { readonly etag: string; readonly versions: RemoteVersions }>();
  readonly #entries = new Map<string, ApiVersionDiscovery>();
  readonly #queue: KeyedQueue;

  constructor(readonly options: DiscoveryManagerOptions) {
    this.#queue = new KeyedQueue({
      ...everyMinute,
      work: (name) => this.#fetch(name),
      onError: options.onError,
      metrics: options.queueMetrics,
    });
  }

  /** Adds or updates an APIService; undefined removes it. */
  set(name: string, remote: RemoteGroupVersion | undefined): void {
    if (remote) {
      this.#remotes.set(name, remote);
      this.#queue.add(name);
    } else {
      if (!this.#remotes.delete(name)) return;
      this.#entries.delete(name);
      this.#answers.delete(name);
      this.#queue.forget(name);
    }
    this.#change();
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
  }

  async #fetch(name: string): Promise<boolean> {
    const remote = this.#remotes.get(name);
    if (!remote) return true;
    const { version } = remote;
    const entry = await this.#entry(name, remote).catch((): ApiVersionDiscovery => ({ version, freshness: 'Stale' }));
    if (this.#remotes.get(name) !== remote) return true;
    const isNew = !deepEqual(entry, this.#entries.get(name));
    this.#entries.set(name, entry);
    if (isNew) this.#change();
    return entry.freshness === 'Current';
  }

  /** Rejects if the server does not answer. */
  async #entry(name: string, { group, version, server }: RemoteGroupVersion): Promise<ApiVersionDiscovery> {
    const versions = await this.#aggregated(name, server);
    if (versions) {
      const { resources } = versions.get(`${group}/${version}`) ?? {};
      return { version, ...(resources && { resources }), freshness: 'Current' };
    }
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const user = { name: aggregatorUser.name, groups: [] };
    const { status, body } = await server.get(path, { user, headers: { accept: 'application/json' }, timeoutMs });
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return { version, resources: await classicResources(body), freshness: 'Current' };
  }

  /** Returns the server's aggregated discovery; undefined if it does not support it. Rejects if the server does not answer. */
  async #aggregated(name: string, server: ExtensionServer): Promise<RemoteVersions | undefined> {
    const known = this.#answers.get(name);
    const headers = { accept, ...(known?.etag && { 'if-none-match': known.etag }) };
    const answer = await server.get('/apis', { user: aggregatorUser, headers, timeoutMs });
    if (answer.status === 304 && known) return known.versions;
    if (answer.status === 503) throw new Error('service unavailable');
    if (answer.status !== 200 || !isAggregated(answer.contentType)) return undefined;
    const versions = await aggregatedVersions(answer.body);
    if (this.#remotes.get(name)?.server === server) this.#answers.set(name, { etag: answer.etag, versions });
    return versions;
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
