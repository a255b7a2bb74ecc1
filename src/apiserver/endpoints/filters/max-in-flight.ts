import { Buffer } from 'node:buffer';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { groupNames } from '#apiserver/request/user-info';
import type { Filter, RequestContext } from '#apiserver/request/request-context';

const text = Buffer.from('Too many requests, please try again later.\n');
const readOnly = new Set(['get', 'list', 'watch']);

export interface InFlight {
  readonly readOnly: number;
  readonly mutating: number;
}

/**
 * Limits concurrent requests to `--max-requests-inflight` (reads) and `--max-mutating-requests-inflight` (writes); 0 means no
 * limit. Responds with 429 above the limit, except to system:masters. Long-running requests do not count. Upstream:
 * server/filters/maxinflight.go.
 */
export function withMaxInFlight(limits: InFlight, observe: (inFlight: InFlight) => void = () => {}): Filter {
  let reads = 0;
  let writes = 0;
  const refuse = (context: RequestContext): void => {
    context.headers.push('Retry-After', '1');
    respondBytes(context, 429, 'text/plain; charset=utf-8', text);
  };
  return (next) => (context) => {
    if (context.longRunning) return next(context);
    const isRead = readOnly.has(context.info.verb);
    const limit = isRead ? limits.readOnly : limits.mutating;
    const privileged = context.user?.groups.includes(groupNames.privileged) ?? false;
    if (limit > 0 && (isRead ? reads : writes) >= limit && !privileged) return refuse(context);
    const count = (by: 1 | -1): void => {
      if (isRead) reads += by;
      else writes += by;
      observe({ readOnly: reads, mutating: writes });
    };
    count(1);
    let result: void | Promise<void>;
    try {
      result = next(context);
    } catch (error) {
      count(-1);
      throw error;
    }
    if (result === undefined) count(-1);
    else context.whenSettled(() => count(-1));
    return result;
  };
}
