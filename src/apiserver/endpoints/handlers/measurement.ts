import type { Handler, MeasuredEndpoint } from '#apiserver/request/request-context';

/** What requests of a path are counted under, which is none of a resource. */
export function measuredPath(subresource: string, component: string): MeasuredEndpoint {
  return { group: '', version: '', resource: '', subresource, component, isCustom: false };
}

/** Counts what comes to the handler. Upstream: endpoints/metrics/metrics.go (InstrumentHandlerFunc). */
export function withMeasurement(subresource: string, component: string, handler: Handler): Handler {
  const measured = measuredPath(subresource, component);
  return (context) => {
    context.measured = measured;
    return handler(context);
  };
}
