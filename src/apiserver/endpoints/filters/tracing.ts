import type { Filter, RequestContext } from '#apiserver/request/request-context';
import type { Tracer } from '#apiserver/tracing/tracer';

/** Upstream logs a trace of what takes longer (k8s.io/utils/trace). */
const slowMs = 500;

/**
 * Reports requests that took long, which long-running ones are meant to, and makes spans of those that are sampled. It comes after
 * authentication, since not everybody's word counts on what is sampled. Upstream: endpoints/filters/traces.go.
 */
export function withTracing(slow: (context: RequestContext, milliseconds: number) => void, tracer?: Tracer): Filter {
  const withSlow: Filter = (next) => (context) => {
    const result = next(context);
    if (result === undefined || context.longRunning) return result;
    context.whenSettled(() => {
      const took = performance.now() - context.receivedAt;
      if (took > slowMs) slow(context, took);
    });
    return result;
  };
  return tracer ? (next) => withSpans(tracer)(withSlow(next)) : withSlow;
}

function withSpans(tracer: Tracer): Filter {
  return (next) => (context) => {
    const span = tracer.begin(context);
    if (span) {
      context.span = span;
      // Once all that is done on it in this turn is done: what comes behind the answer is a part of it, too.
      context.exchange.onClose(() => queueMicrotask(() => span.end()));
    }
    return next(context);
  };
}
