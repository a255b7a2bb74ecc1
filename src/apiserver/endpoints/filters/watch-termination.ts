import type { Filter } from '#apiserver/request/request-context';
import type { WaitGroup } from '#apiserver/base/wait-group';

/** Counts watches, so that a graceful shutdown can wait for them. Upstream: server/filters/watch_termination.go. */
export function withWatchTermination(watches: WaitGroup): Filter {
  return (next) => (context) => {
    if (context.info.verb !== 'watch' || !context.info.isResourceRequest) return next(context);
    context.exchange.onClose(watches.enter());
    return next(context);
  };
}
