import { Inject, Injectable, Optional } from '@nestjs/common';
import { newNotFound, newStatus, StatusError } from '#apimachinery/api/errors';
import type { ProxyLocation } from '#apiserver/endpoints/handlers/proxy';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { trustOptions } from '#apiserver/network/trust';
import { Stores } from '#apiserver/registry/stores';
import type { Node } from '#kubernetes/schema/core_v1.gen';

/** Options for connections to kubelets: the `--kubelet-…` flags. */
export interface KubeletClientConfig {
  /** CA bundle in PEM; undefined if the kubelet's certificate is not verified. */
  readonly ca: string | undefined;
  /** Client certificate and key of the server, in PEM. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  /** Port of nodes that declare none. */
  readonly port: number;
  readonly preferredAddressTypes: readonly string[];
  /** `--max-connection-bytes-per-sec`: limit in each direction of an upgraded connection to a node, pod or service; undefined for no limit. */
  readonly maxBytesPerSecond?: number | undefined;
  /** Ports of the loopback interface on which kubelets of this process listen, at any time. */
  readonly ownPorts?: ReadonlySet<number> | undefined;
}
export const KubeletClientConfig = Symbol.for('kubenest.KubeletClientConfig');

/** Options of a server without `--kubelet-…` flags. */
export const defaultKubeletClientConfig: KubeletClientConfig = {
  ca: undefined,
  certificate: undefined,
  port: 10_250,
  preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
};

/** Dial function and rate limit of outbound connections. */
export type OutboundWay = Pick<ProxyLocation, 'dial' | 'maxBytesPerSecond'>;
export type KubeletLocation = Pick<ProxyLocation, 'secure' | 'host' | 'port' | 'tls'> & OutboundWay;

/** Resolves the kubelet endpoint of a node. Upstream: kubernetes/pkg/kubelet/client/kubelet_client.go. */
@Injectable()
export class KubeletConnections {
  readonly #config: KubeletClientConfig;
  /** Dial function and rate limit for nodes, pods and services. */
  readonly way: OutboundWay;

  constructor(
    @Inject(Stores) private readonly stores: Stores,
    @Optional() @Inject(KubeletClientConfig) config?: KubeletClientConfig,
    @Optional() @Inject(EgressSelector) egress?: EgressSelector,
  ) {
    this.#config = config ?? defaultKubeletClientConfig;
    this.way = { dial: egress?.dial('cluster'), maxBytesPerSecond: this.#config.maxBytesPerSecond };
  }

  /** True for a kubelet of this process. It listens on the loopback interface, to which nothing else is proxied. */
  isOwn({ host, port }: Pick<KubeletLocation, 'host' | 'port'>): boolean {
    return host === '127.0.0.1' && (this.#config.ownPorts?.has(Number(port)) ?? false);
  }

  /**
   * Returns the endpoint of a node's kubelet. Throws for a node without an address, and NotFound, in which upstream names the requested
   * resource. `unchecked` disables verification of the kubelet's certificate.
   */
  async locate(node: string, asked: string, unchecked = false): Promise<KubeletLocation> {
    const store = this.stores.of({ group: '', resource: 'nodes' });
    const found = await store.cacher.get(store.key('', node), '');
    if (!found) throw newNotFound({ group: '', resource: asked }, node);
    const { status = {} } = found.object as Node;
    const { ca, certificate, port, preferredAddressTypes } = this.#config;
    for (const wanted of preferredAddressTypes) {
      const match = status.addresses?.find(({ type }) => type === wanted);
      if (!match) continue;
      const own = status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
      const checks = ca !== undefined && !unchecked;
      return {
        secure: true,
        host: match.address ?? '',
        port: own > 0 ? own : port,
        ...this.way,
        tls: { ...trustOptions({ ca, insecure: !checks }), ...(certificate && { cert: certificate.cert, key: certificate.key }) },
      };
    }
    const known = (status.addresses ?? []).map(({ type = '', address = '' }) => `{${type} ${address}}`).join(' ');
    throw new StatusError(newStatus(500, '', `no preferred addresses found; known addresses: [${known}]`));
  }
}
