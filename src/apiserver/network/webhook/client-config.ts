import { Buffer } from 'node:buffer';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import type { Endpoint } from '#apiserver/network/endpoint';

/** How a webhook is reached that an object of the API configures. Upstream: admissionregistration.k8s.io and apiextensions.k8s.io WebhookClientConfig. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace?: string; readonly name?: string; readonly path?: string; readonly port?: number };
  /** base64 of PEM. */
  readonly caBundle?: string;
}

/** Where a webhook is, and how connections to it are made. */
export interface WebhookTarget {
  readonly url: URL;
  /** As messages and the Host header tell it; that of a service always has a port. */
  readonly authority: string;
  /** The path of the URL, with its query. */
  readonly path: string;
  /** PEM; undefined: the authorities that Node knows. */
  readonly certificateAuthority: string | undefined;
  /** Where a service is now; undefined: at the URL. Throws for a service that cannot be reached. */
  readonly endpoint: (() => Endpoint) | undefined;
  readonly dial: Dial | undefined;
}

/** Throws an Error for a configuration that names no place, or one without TLS. Upstream: apiserver/pkg/util/webhook/client.go. */
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
