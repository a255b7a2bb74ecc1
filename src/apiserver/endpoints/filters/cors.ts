import { RE2JS } from 're2js';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';

const methods = 'POST, GET, OPTIONS, PUT, DELETE, PATCH';
const allowedHeaders = 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since';

/**
 * Compiles a pattern of `--cors-allowed-origins`. It must anchor the start of the host (`^` or `//`) and its end (`$` or `:`), with
 * the same marks as upstream (CVE-2022-1996; apiserver/pkg/server/options/server_run_options.go). Throws an Error otherwise.
 */
export function compileOrigin(pattern: string): RE2JS {
  // An origin has no other slashes than the two before the host, so one at the start of the pattern is an anchor too.
  const begins = pattern.includes('^') || pattern.includes('//') || pattern.startsWith('/');
  const ends = pattern.includes('$') || pattern.includes(':');
  if (!begins || !ends) throw new Error('regular expression does not pin to start/end of host in the origin header');
  return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
}

/** Adds CORS headers for allowed origins and responds to their preflight requests. Upstream: server/filters/cors.go. */
export function withCORS(origins: readonly RE2JS[]): Filter {
  if (origins.length === 0) return (next) => next;
  return (next) => (context) => {
    const origin = context.header('origin');
    if (!origin || !origins.some((pattern) => pattern.test(origin))) return next(context);
    context.headers.push(
      'Access-Control-Allow-Origin',
      origin,
      'Access-Control-Allow-Methods',
      methods,
      'Access-Control-Allow-Headers',
      allowedHeaders,
      'Access-Control-Expose-Headers',
      'Date',
      'Access-Control-Allow-Credentials',
      'true',
    );
    if (context.method === 'OPTIONS') return respondBytes(context, 204, undefined, undefined);
    return next(context);
  };
}
