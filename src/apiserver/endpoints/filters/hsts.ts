import type { Filter } from '#apiserver/request/request-context';

/** Sets Strict-Transport-Security from `--strict-transport-security-directives`. Upstream: server/filters/hsts.go. */
export function withHSTS(directives: readonly string[]): Filter {
  if (directives.length === 0) return (next) => next;
  const value = directives.join('; ');
  return (next) => (context) => {
    context.headers.push('Strict-Transport-Security', value);
    return next(context);
  };
}
