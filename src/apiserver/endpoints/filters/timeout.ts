import { RequestTimeoutError } from '#apimachinery/api/errors';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';
import { Roster } from '#apiserver/endpoints/request/roster';

/**
 * Answers 504 where a request is not done by its deadline; what it does is not interrupted, only no longer waited for.
 * One timer looks at all that wait, four times a second: a timer for each request would cost more than most requests.
 * Upstream: server/filters/timeout.go.
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
    timer ??= setInterval(look, 250).unref();
    context.whenSettled(() => waiting.remove(place));
    return result;
  };
}
