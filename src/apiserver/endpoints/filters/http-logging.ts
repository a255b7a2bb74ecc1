import type { Filter, RequestContext } from '#apiserver/request/request-context';

export interface RequestLog {
  /** True if each request is logged; may change at run time. */
  readonly logsRequests: boolean;
  request(context: RequestContext, milliseconds: number): void;
}

/** Logs each request after its response if the log verbosity requires it (--v=3). Upstream: server/httplog. */
export function withHTTPLogging(log: RequestLog): Filter {
  return (next) => (context) => {
    if (!log.logsRequests) return next(context);
    const { receivedAt } = context;
    context.exchange.onClose(() => log.request(context, performance.now() - receivedAt));
    return next(context);
  };
}
