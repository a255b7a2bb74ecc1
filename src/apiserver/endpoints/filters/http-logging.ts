import type { Filter, RequestContext } from '#apiserver/request/request-context';

export interface RequestLog {
  /** It may change while the server runs. */
  readonly tellsRequests: boolean;
  request(context: RequestContext, milliseconds: number): void;
}

/** Tells of each request when it is answered, where the log's verbosity asks for it (--v=3). Upstream: server/httplog. */
export function withHTTPLogging(log: RequestLog): Filter {
  return (next) => (context) => {
    if (!log.tellsRequests) return next(context);
    const { receivedAt } = context;
    context.exchange.onClose(() => log.request(context, performance.now() - receivedAt));
    return next(context);
  };
}
