import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Logger } from '#apiserver/base/logger';
import { Tracer } from '#apiserver/tracing/tracer';
import type { TracingConfig } from '#cmd/server-config';

export interface Tracing extends AsyncDisposable {
  readonly tracer: Tracer;
}

export const Tracing = Symbol('Tracing');

/**
 * Exports request spans of a service to a collector. The exporter is loaded only if a collector is configured. Upstream:
 * apiserver/pkg/server/options/tracing.go.
 */
export async function newTracing(
  config: TracingConfig,
  log: Logger,
  instanceId: string,
  dial: Dial | undefined,
  serviceName = 'apiserver',
): Promise<Tracing> {
  const [{ SpanExporter }, { keyValues }] = await Promise.all([
    import('#apiserver/tracing/span-exporter'),
    import('#apiserver/tracing/attributes'),
  ]);
  const exporter = new SpanExporter({
    endpoint: config.endpoint,
    resource: keyValues([
      ['service.name', serviceName],
      ['service.instance.id', instanceId],
    ]),
    log,
    dial,
  });
  return {
    tracer: new Tracer(exporter, config.samplingRatePerMillion),
    [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose](),
  };
}
