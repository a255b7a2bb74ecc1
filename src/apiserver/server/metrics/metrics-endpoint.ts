import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { parseAccept } from '#apiserver/endpoints/handlers/negotiation';
import { acceptsGzip, respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { protobufOf } from '#apiserver/base/metrics/protobuf-exposition';
import { textOf } from '#apiserver/base/metrics/text-exposition';

const compress = promisify(gzip);
const protobufType = 'application/vnd.google.protobuf';
const messageName = 'io.prometheus.client.MetricFamily';
const textVersion = '0.0.4';
const escapings = new Set(['allow-utf-8', 'underscores', 'dots', 'values']);
const startedAt = Math.floor(Date.now() / 1_000 - process.uptime());

/**
 * Returns a handler that responds to every method with the metrics as text or protobuf; the body is empty without metrics.
 * Upstream: prometheus/client_golang/prometheus/promhttp, component-base/metrics/http.go.
 */
export function metricsHandler(registry: LimitedRegistry): Handler {
  return async (context) => {
    const families = await registry.families();
    if (families.length === 0) return respondBytes(context, 200, undefined, undefined);
    const { isProtobuf, escaping } = negotiateFormat(context.header('accept'));
    const body = isProtobuf ? protobufOf(families) : Buffer.from(textOf(families));
    const form = isProtobuf
      ? `${protobufType}; proto=${messageName}; encoding=delimited`
      : `text/plain; version=${textVersion}; charset=utf-8`;
    context.headers.push('Process-Start-Time-Unix', String(startedAt));
    await respondMetrics(context, `${form}; escaping=${escaping}`, body);
  };
}

/**
 * Like `metricsHandler`; DELETE resets the metrics by `reset`. Upstream: apiserver/pkg/server/routes/metrics.go (MetricsWithReset).
 */
export function metricsHandlerWithReset(registry: LimitedRegistry, reset = (): void | Promise<void> => registry.startAnew()): Handler {
  const show = metricsHandler(registry);
  return async (context) => {
    if (context.method !== 'DELETE') return show(context);
    await reset();
    respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from('metrics reset\n'));
  };
}

async function respondMetrics(context: RequestContext, contentType: string, body: Buffer): Promise<void> {
  if (!acceptsGzip(context)) return respondBytes(context, 200, contentType, body);
  const compressed = await compress(body);
  context.headers.push('Content-Encoding', 'gzip');
  respondBytes(context, 200, contentType, compressed);
}

/** Returns the first supported form of the Accept header, or text. Upstream: prometheus/common/expfmt/encode.go (Negotiate). */
function negotiateFormat(accept: string | undefined): { readonly isProtobuf: boolean; readonly escaping: string } {
  let escaping = 'underscores';
  for (const { type, subtype, parameters } of parseAccept(accept ?? '')) {
    const wanted = parameters.get('escaping') ?? '';
    if (escapings.has(wanted)) escaping = wanted;
    const mediaType = `${type}/${subtype}`;
    if (mediaType === protobufType && parameters.get('proto') === messageName && parameters.get('encoding') === 'delimited')
      return { isProtobuf: true, escaping };
    if (mediaType === 'text/plain' && (parameters.get('version') ?? textVersion) === textVersion) return { isProtobuf: false, escaping };
  }
  return { isProtobuf: false, escaping };
}
