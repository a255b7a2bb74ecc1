import { Buffer } from 'node:buffer';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import type { Endpoint } from '#apiserver/network/endpoint';

/**
 * Client configuration of a webhook in an API object. Upstream: admissionregistration.k8s.io and apiextensions.k8s.io
 * WebhookClientConfig.
 */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace?: string; readonly name?: string; readonly path?: string; readonly port?: number };
  /** base64 of PEM. */
  readonly caBundle?: string;
}

/** Address of a webhook and parameters of its connections. */
export interface WebhookTarget {
  readonly url: URL;
  /** Host and port for messages and the Host header; a service's always has a port. */
  readonly authority: string;
  /** Path of the URL with its query. */
  readonly path: string;
  /** PEM; undefined: Node's default authorities. */
  readonly certificateAuthority: string | undefined;
  /** Returns the current endpoint of a service; undefined for a URL. Throws if the service is unavailable. */
  readonly endpoint: (() => Endpoint) | undefined;
  readonly dial: Dial | undefined;
}

/**
 * Returns the target of a client configuration. Throws an Error if it has no address or does not use TLS. Upstream:
 * apiserver/pkg/util/webhook/client.go.
 */
export function webhookTarget({ url: text = '', service, caBundle = '' }: WebhookClientConfig, resolver: ServiceResolver): WebhookTarget {
  const { namespace = '', name = '', port = 443, path = '' } = service ?? {};
  const ofService = `${name}.${namespace}.svc:${port}`;
  const source = service ? `https://${ofService}${path === '' || path.startsWith('/') ? '' : '/'}${path}` : text;
  if (!URL.canParse(source)) throw new Error('webhook configuration must have either service or URL');
  const url = new URL(source);
  if (url.protocol !== 'https:') throw new Error(`unsupported protocol scheme ${JSON.stringify(url.protocol.slice(0, -1))}`);
  const authority = Buffer.from(caBundle, 'base64').toString();
  return {
    url,
    authority: service ? ofService : url.host,
    path: url.pathname + url.search,
    certificateAuthority: authority.trim() === '' ? undefined : authority,
    endpoint: service && (() => resolver.resolve(namespace, name, port)),
    dial: resolver.egress?.dial(service ? 'cluster' : 'controlplane'),
  };
}
