import type { Filter, RequestContext } from '#apiserver/request/request-context';
import type { Tracer } from '#apiserver/tracing/tracer';

/** Threshold of slow requests, at which upstream logs a trace (k8s.io/utils/trace). */
const slowMs = 500;

/**
 * Reports slow requests, except long-running ones, and creates spans of sampled requests. It follows authentication, because only
 * some users may decide about sampling. Upstream: endpoints/filters/traces.go.
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
      // Ends the span after the current synchronous work, so that work after the response is part of it.
      context.exchange.onClose(() => queueMicrotask(() => span.end()));
    }
    return next(context);
  };
}
