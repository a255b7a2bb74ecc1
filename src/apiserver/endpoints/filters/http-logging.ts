import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';

/** Tells of each request when it is answered, where the log's verbosity asks for it (--v=3). Upstream: server/httplog. */
export function withHTTPLogging(log: ((context: RequestContext, milliseconds: number) => void) | undefined): Filter {
  if (!log) return (next) => next;
  return (next) => (context) => {
    const { receivedAt } = context;
    context.exchange.onClose(() => log(context, performance.now() - receivedAt));
    return next(context);
  };
}
