import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';

/** Upstream logs a trace of what takes longer (k8s.io/utils/trace). */
const slowMs = 500;

/** Reports requests that took long. Long-running ones are meant to. Upstream: endpoints/filters/traces.go. */
export function withTracing(slow: (context: RequestContext, milliseconds: number) => void): Filter {
  return (next) => (context) => {
    const result = next(context);
    if (result === undefined || context.longRunning) return result;
    context.whenSettled(() => {
      const took = performance.now() - context.receivedAt;
      if (took > slowMs) slow(context, took);
    });
    return result;
  };
}
