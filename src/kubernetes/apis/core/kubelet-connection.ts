import { Inject, Injectable, Optional } from '@nestjs/common';
import { newNotFound, newStatus, StatusError } from '#apimachinery/api/errors';
import type { ProxyLocation } from '#apiserver/endpoints/handlers/proxy';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { trustOptions } from '#apiserver/network/trust';
import { Stores } from '#apiserver/registry/stores';
import type { Node } from '#kubernetes/schema/core_v1.gen';

/** How the server reaches kubelets: the `--kubelet-…` flags. */
export interface KubeletClientConfig {
  /** PEM; without it the kubelet's certificate is not checked. */
  readonly ca: string | undefined;
  /** PEM of the server's client certificate. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  /** Where a node says no port of its own. */
  readonly port: number;
  readonly preferredAddressTypes: readonly string[];
  /** `--max-connection-bytes-per-sec`: each way of an upgraded connection to a node, a pod or a service; undefined: whatever it takes. */
  readonly maxBytesPerSecond?: number | undefined;
}
export const KubeletClientConfig = Symbol.for('kubenest.KubeletClientConfig');

/** Of servers whose flags say nothing else. */
export const defaultKubeletClientConfig: KubeletClientConfig = {
  ca: undefined,
  certificate: undefined,
  port: 10_250,
  preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
};

/** How connections are made, and how fast they may be. */
export type OutboundWay = Pick<ProxyLocation, 'dial' | 'maxBytesPerSecond'>;
export type KubeletLocation = Pick<ProxyLocation, 'secure' | 'host' | 'port' | 'tls'> & OutboundWay;

/** Finds out where a node's kubelet is. Upstream: kubernetes/pkg/kubelet/client/kubelet_client.go. */
@Injectable()
export class KubeletConnections {
  readonly #config: KubeletClientConfig;
  /** How nodes, pods and services are reached. */
  readonly way: OutboundWay;

  constructor(
    @Inject(Stores) private readonly stores: Stores,
    @Optional() @Inject(KubeletClientConfig) config?: KubeletClientConfig,
    @Optional() @Inject(EgressSelector) egress?: EgressSelector,
  ) {
    this.#config = config ?? defaultKubeletClientConfig;
    this.way = { dial: egress?.dial('cluster'), maxBytesPerSecond: this.#config.maxBytesPerSecond };
  }

  /**
   * Throws for a node without an address, and NotFound, which upstream tells of the resource that was asked for. With `unchecked` the
   * kubelet's certificate is not checked.
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
