import type { RequestContext } from '#apiserver/request/request-context';
import type { Attribute } from '#apiserver/request/request-span';
import type { KeyValue } from './otlp-messages.ts';

/** Converts attributes, without the undefined ones. */
export function keyValues(attributes: readonly Attribute[]): KeyValue[] {
  return attributes.flatMap(([key, value]) => {
    if (value === undefined) return [];
    return { key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } };
  });
}

/** Returns attributes by OpenTelemetry's conventions for HTTP servers (otelhttp), plus upstream's additions. */
export function requestAttributes({ exchange, method, path, auditId, status, responseBytes }: RequestContext): KeyValue[] {
  const { peer, protocol, headers } = exchange;
  const authority = String(headers[':authority'] ?? headers.host ?? '');
  const [, host = authority, port] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
  const [forwarded = ''] = String(headers['x-forwarded-for'] ?? '').split(',');
  return keyValues([
    ['server.address', host],
    ['http.request.method', method],
    ['url.scheme', 'https'],
    ['server.port', port === undefined ? undefined : Number(port)],
    ['network.peer.address', peer.remoteAddress],
    ['user_agent.original', headers['user-agent'] || undefined],
    ['client.address', forwarded.trim() || peer.remoteAddress],
    ['url.path', path],
    ['network.protocol.version', protocol.replace(/^HTTP\//, '').replace(/\.0$/, '')],
    ['http.target', exchange.url],
    ['audit-id', auditId],
    ['http.response.status_code', status || undefined],
    ['http.response.body.size', responseBytes || undefined],
  ]);
}

/** Returns the attributes of a verb's span. Upstream: endpoints/handlers/trace_util.go (traceFields). */
export function verbAttributes({ exchange, info, auditId, path }: RequestContext): KeyValue[] {
  const { peer, protocol, headers } = exchange;
  return keyValues([
    ['accept', headers.accept ?? ''],
    ['audit-id', auditId],
    ['client', peer.remoteAddress],
    ['api-group', info.apiGroup],
    ['api-version', info.apiVersion],
    ['name', info.name],
    ['subresource', info.subresource],
    ['namespace', info.namespace],
    ['protocol', protocol],
    ['resource', info.resource],
    ['scope', info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster'],
    ['url', path],
    ['user-agent', headers['user-agent'] ?? 'unknown'],
    ['verb', info.verb.toUpperCase()],
  ]);
}
