import { Buffer } from 'node:buffer';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { ClientGoneError } from '#apiserver/request/exchange';
import type { Filter, RequestContext } from '#apiserver/request/request-context';

const text = Buffer.from('This request caused apiserver to panic. Look in the logs for details.\n');

/** Headers of a body that could not be sent. A response with two lengths would end where the client chooses (CWE-444). */
const bodyHeaders = new Set(['content-type', 'content-length', 'content-encoding']);

function dropBodyHeaders(headers: string[]): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) if (bodyHeaders.has(headers[i]!.toLowerCase())) headers.splice(i, 2);
}

/**
 * Handles errors that no other filter handled, which are faults of the server. The client receives upstream's 500 (or a closed
 * connection if the response has started), the cause is logged, and the process continues. Requests end in this filter. Upstream:
 * server/filters/wrap.go.
 */
export function withPanicRecovery(onPanic: (error: unknown, context: RequestContext) => void): Filter {
  const recover = (error: unknown, context: RequestContext): void => {
    if (error instanceof ClientGoneError) return;
    onPanic(error, context);
    if (context.answered) return;
    dropBodyHeaders(context.headers);
    respondBytes(context, 500, 'text/plain; charset=utf-8', text);
  };
  return (next) => (context) => {
    try {
      return next(context)?.then(
        () => context.settle(),
        (error: unknown) => {
          recover(error, context);
          context.settle();
        },
      );
    } catch (error) {
      return recover(error, context);
    }
  };
}
