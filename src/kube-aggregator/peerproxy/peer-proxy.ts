import { newServiceUnavailable } from '#apimachinery/api/errors';
import type { GroupDiscovery, ServerDiscovery } from '#apiserver/endpoints/discovery/aggregated-form';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Endpoint } from '#apiserver/network/endpoint';
import { trustOptions } from '#apiserver/network/trust';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
import { proxyTo } from '../apiserver/proxy-handler.ts';
import { type ProxyClientCertificate, RemoteServer } from '../apiserver/remote-server.ts';
import { everyMinute, KeyedQueue } from '../controllers/keyed-queue.ts';
import { aggregatedGroups } from '../controllers/remote-discovery.ts';
import type { PeerMetrics } from './peer-metrics.ts';

export interface PeerProxyOptions {
  /** Returns the authorities of the certificates of peers, in PEM; read for each new connection pool. */
  ca(): string;
  /** Dialer of connections to peers; undefined: connect directly. */
  readonly dial: Dial | undefined;
  /** Client certificate by which peers trust the user that this server names; read for each new connection pool. */
  clientCertificate(): ProxyClientCertificate;
  /** Returns the endpoint of a live server; undefined if it has none. */
  endpointOf(id: string): Promise<Endpoint | undefined>;
  /** True for group versions of custom resources and extension servers, which all servers of the cluster serve. */
  isShared(group: string, version: string): boolean;
  /** Called with the groups of all peers after each change. */
  onDiscovery(servers: readonly ServerDiscovery[]): void;
  onError(error: unknown): void;
  readonly metrics: PeerMetrics;
}

interface Peer {
  readonly server: RemoteServer;
  endpoint: Endpoint | undefined;
  groups: readonly GroupDiscovery[];
  /** Served resources, as `group/version/resource`. */
  resources: ReadonlySet<string>;
}

/** Header of a request that has been proxied once and must be served by its receiver. */
const proxiedHeader = 'x-kubernetes-peer-proxied';
const accept = [';profile=nopeer', '']
  .map((profile) => `application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList${profile}`)
  .join(',');
const serverName = 'kubernetes.default.svc';
const timeoutMs = 5_000;
const ownUser: UserInfo = { name: userNames.apiServer, uid: userNames.apiServer, groups: [groupNames.authenticated] };

/**
 * Proxies requests for resources that only other servers of the cluster serve, such as servers of another version or with other packages.
 * The discovery of each peer is fetched when it appears or restarts, and once a minute. Upstream: apiserver/pkg/util/peerproxy.
 */
export class PeerProxy implements Disposable {
  readonly #peers = new Map<string, Peer>();
  readonly #queue: KeyedQueue;

  constructor(private readonly options: PeerProxyOptions) {
    this.#queue = new KeyedQueue({ ...everyMinute, work: (id) => this.#fetch(id), onError: options.onError });
  }

  /** Adds a peer, or fetches its discovery again. */
  add(id: string): void {
    if (!this.#peers.has(id)) this.#peers.set(id, this.#newPeer(id));
    this.#queue.add(id);
  }

  /** Removes a peer. */
  remove(id: string): void {
    const peer = this.#peers.get(id);
    if (!peer) return;
    this.#peers.delete(id);
    this.#queue.forget(id);
    peer.server.retire();
    this.#publish();
  }

  /** Makes new connections use the current authorities and client certificate. */
  reconnect(): void {
    for (const [id, { server, endpoint, groups, resources }] of this.#peers) {
      server.retire();
      this.#peers.set(id, Object.assign(this.#newPeer(id), { endpoint, groups, resources }));
    }
  }

  /**
   * Returns a handler for a request whose resource this server does not serve; undefined if no peer serves it, or if a peer has sent it.
   */
  readonly handlerOf = (context: RequestContext): Handler | undefined => {
    const { apiGroup, apiVersion, resource } = context.info;
    if (context.header(proxiedHeader) === 'true') return undefined;
    const key = `${apiGroup}/${apiVersion}/${resource}`;
    const able = [...this.#peers].filter(([, { resources }]) => resources.has(key)).map(([id]) => id);
    return able.length === 0 ? undefined : () => this.#proxy(context, able);
  };

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
    for (const { server } of this.#peers.values()) server[Symbol.dispose]();
  }

  /** Proxies to one of the peers that are live, at random. */
  async #proxy(context: RequestContext, ids: readonly string[]): Promise<void> {
    const live = (await Promise.all(ids.map((id) => this.#located(id)))).filter((peer) => peer !== undefined);
    const peer = live[Math.floor(Math.random() * live.length)];
    const { apiGroup: group, apiVersion: version, resource } = context.info;
    const labels = { group, version, resource };
    if (!peer) {
      this.options.metrics.hasNoEndpoint(labels);
      return respondError(context, newServiceUnavailable('Error getting ip and port info of the remote server while proxying'));
    }
    await proxyTo(peer.server, context, false);
    this.options.metrics.proxied(context.status, labels);
  }

  /** Returns a peer with its current endpoint; undefined if it has none. */
  async #located(id: string): Promise<Peer | undefined> {
    const endpoint = await this.options.endpointOf(id).catch((error: unknown) => this.options.onError(error));
    const peer = this.#peers.get(id);
    if (!peer || !endpoint) return undefined;
    peer.endpoint = endpoint;
    return peer;
  }

  #newPeer(id: string): Peer {
    const { ca, dial, clientCertificate } = this.options;
    const server = new RemoteServer({
      resolve() {
        if (!peer.endpoint) throw new Error(`peer ${id} has no endpoint`);
        return peer.endpoint;
      },
      tls: { servername: serverName, ...trustOptions({ ca: ca() }), ...clientCertificate() },
      dial,
      headers: { [proxiedHeader]: 'true' },
    });
    const peer: Peer = { server, endpoint: undefined, groups: [], resources: new Set() };
    return peer;
  }

  /** Fetches the discovery of a peer. Resolves with false to be retried. */
  async #fetch(id: string): Promise<boolean> {
    const peer = await this.#located(id);
    // A server writes its endpoint after its identity; one that has ended keeps its identity until the lease expires.
    if (!peer) {
      this.options.metrics.discoveryFailed('hostport_resolution');
      return false;
    }
    const documents = await Promise.all(['/api', '/apis'].map((path) => groupsOf(peer.server, path))).catch((error: unknown) => {
      this.options.metrics.discoveryFailed('fetch_discovery');
      throw error;
    });
    const { isShared } = this.options;
    const groups = documents
      .flat()
      .map((group) => ({ ...group, versions: group.versions.filter(({ version }) => !isShared(group.metadata.name ?? '', version)) }))
      .filter(({ versions }) => versions.length > 0);
    peer.groups = groups.filter(({ metadata }) => metadata.name !== undefined);
    peer.resources = new Set(
      groups.flatMap(({ metadata, versions }) =>
        versions.flatMap(({ version, resources = [] }) => resources.map(({ resource }) => `${metadata.name ?? ''}/${version}/${resource}`)),
      ),
    );
    this.#publish();
    return true;
  }

  #publish(): void {
    this.options.onDiscovery([...this.#peers].map(([id, { groups }]) => ({ id, groups })).filter(({ groups }) => groups.length > 0));
  }
}

/** Rejects if the server does not answer with aggregated discovery. */
async function groupsOf(server: RemoteServer, path: string): Promise<readonly GroupDiscovery[]> {
  const { status, body } = await server.get(path, { user: ownUser, headers: { accept }, timeoutMs });
  if (status !== 200) throw new Error(`discovery request failed with status: ${status}`);
  return aggregatedGroups(body);
}
