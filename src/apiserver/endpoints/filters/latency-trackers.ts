import type { Filter } from '#apiserver/request/request-context';
import type { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';

/**
 * Counts and measures every request by verb, resource and status. Upstream: endpoints/filters/webhook_duration.go,
 * endpoints/metrics.
 */
export function withLatencyTrackers(metrics: RequestMetrics): Filter {
  return (next) => (context) => {
    if (context.longRunning) {
      metrics.longRunningBegan(context);
      context.exchange.onClose(() => metrics.longRunningEnded(context));
      return next(context);
    }
    const result = next(context);
    if (result === undefined) metrics.done(context);
    else context.whenSettled(() => metrics.done(context));
    return result;
  };
}
