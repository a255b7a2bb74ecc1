import { RequestTimeoutError } from '#apimachinery/api/errors';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/request/request-context';
import { Roster } from '#apiserver/request/roster';

/** Interval at which deadlines are checked. */
const lookEveryMs = 250;

/**
 * Responds with 504 if a request is not done by its deadline; its work continues, but its result is discarded. One timer checks all
 * pending requests, because a timer for each request would cost more than most requests. Deadlines within the interval have a timer
 * of their own. Upstream: server/filters/timeout.go.
 */
export function withTimeoutForNonLongRunning(terminated: (context: RequestContext, code: number) => void = () => {}): Filter {
  const waiting = new Roster<RequestContext>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.now();
    for (const context of waiting.removeWhere(({ deadline }) => deadline <= now)) {
      if (context.answered) continue;
      terminated(context, 504);
      respondError(context, new RequestTimeoutError());
      context.exchange.closeConnectionAfter();
    }
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (next) => (context) => {
    const result = next(context);
    if (result === undefined || context.deadline === 0) return result;
    const place = waiting.add(context);
    timer ??= setInterval(look, lookEveryMs).unref();
    const left = context.deadline - performance.now();
    // Timers may fire a fraction of a millisecond early.
    const own = left < lookEveryMs ? setTimeout(look, left + 1).unref() : undefined;
    context.whenSettled(() => {
      waiting.remove(place);
      clearTimeout(own);
    });
    return result;
  };
}
