import { newBadRequest } from '#apimachinery/api/errors';
import { parseDuration } from '#apimachinery/runtime/duration';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';

/** Sets the deadline from `?timeout=`, limited by `--request-timeout`. Upstream: endpoints/filters/request_deadline.go. */
export function withRequestDeadline(requestTimeoutMs: number): Filter {
  return (next) => (context) => {
    if (context.longRunning) return next(context);
    let timeout = requestTimeoutMs;
    if (context.query.includes('timeout=')) {
      const asked = context.searchParams.get('timeout');
      if (asked) {
        try {
          const milliseconds = parseDuration(asked);
          if (milliseconds > 0) timeout = Math.min(timeout, milliseconds);
        } catch (error) {
          return respondError(context, newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`));
        }
      }
    }
    context.deadline = context.receivedAt + timeout;
    return next(context);
  };
}
