import { RE2JS } from 're2js';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/endpoints/request/request-context';

const methods = 'POST, GET, OPTIONS, PUT, DELETE, PATCH';
const allowedHeaders = 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since';

/** Checks a pattern of `--cors-allowed-origins`: it must be anchored at both ends of the host (CVE-2022-1996). Throws with upstream's message. */
export function compileOrigin(pattern: string): RE2JS {
  const open = pattern.startsWith('^') || pattern.startsWith('//') || pattern.startsWith('\\A');
  const closed = pattern.endsWith('$') || pattern.endsWith('\\z') || /(:\[0-9\]\+\)\?\$|:\$)$/.test(pattern);
  if (!open || !closed) {
    throw new Error(`regular expression does not pin to start and end of host name in the origin, pattern: ${pattern}: it must begin with ^ or // and end with $ or a colon`);
  }
  return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
}

/** Upstream: server/filters/cors.go. */
export function withCORS(origins: readonly RE2JS[]): Filter {
  if (origins.length === 0) return (next) => next;
  return (next) => (context) => {
    const origin = context.header('origin');
    if (!origin || !origins.some((pattern) => pattern.matcher(origin).find())) return next(context);
    context.headers.push(
      'Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Methods', methods, 'Access-Control-Allow-Headers', allowedHeaders,
      'Access-Control-Expose-Headers', 'Date', 'Access-Control-Allow-Credentials', 'true',
    );
    if (context.method === 'OPTIONS') return respondBytes(context, 204, undefined, undefined);
    return next(context);
  };
}
