import { Buffer } from 'node:buffer';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';

const exempt = new Set(['/readyz', '/livez', '/healthz']);
const text = Buffer.from('The apiserver is shutting down, please try again later.\n');

/**
 * Rejects new requests with 429 and closes their connections during a shutdown that keeps the port open
 * (`--shutdown-send-retry-after`), so that clients retry at another server. Upstream: server/filters/with_retry_after.go.
 */
export function withRetryAfter(notAcceptingNewRequest: { readonly fired: boolean }): Filter {
  return (next) => (context) => {
    if (!notAcceptingNewRequest.fired || exempt.has(context.path)) return next(context);
    context.headers.push('Connection', 'close', 'Retry-After', '1');
    context.exchange.closeConnectionAfter();
    return respondBytes(context, 429, 'text/plain; charset=utf-8', text);
  };
}
