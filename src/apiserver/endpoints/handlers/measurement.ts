import type { Handler, MeasuredEndpoint } from '#apiserver/request/request-context';

/** Returns the metric labels of a path that belongs to no resource. */
export function measuredPath(subresource: string, component: string): MeasuredEndpoint {
  return { group: '', version: '', resource: '', subresource, component, isCustom: false };
}

/** Counts the requests of a handler. Upstream: endpoints/metrics/metrics.go (InstrumentHandlerFunc). */
export function withMeasurement(subresource: string, component: string, handler: Handler): Handler {
  const measured = measuredPath(subresource, component);
  return (context) => {
    context.measured = measured;
    return handler(context);
  };
}
