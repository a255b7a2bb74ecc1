import { newUnauthorized } from '#apimachinery/api/errors';
import type { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { groupNames } from '#apiserver/request/user-info';
import { type Auditing, auditFailedAuthentication } from './audit.ts';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';
import type { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';

/**
 * Runs the AuthenticationGuard in the chain. An unauthenticated client receives 401 without a reason. Upstream:
 * endpoints/filters/authentication.go. `limitsHttp2` closes HTTP/2 connections after requests of unauthenticated clients.
 */
export function withAuthentication(
  guard: Pick<AuthenticationGuard, 'authenticate'>,
  onFailure: (context: RequestContext, error: unknown) => void,
  auditing: Auditing | undefined,
  metrics: Pick<AccessMetrics, 'authenticated'>,
  limitsHttp2: boolean,
): Filter {
  const refuse = (context: RequestContext): void => {
    if (limitsHttp2) closeOverHttp2(context);
    auditFailedAuthentication(auditing, context);
    respondError(context, newUnauthorized('Unauthorized'));
  };
  const proceed = (next: Handler, context: RequestContext, known: boolean, began: number): void | Promise<void> => {
    metrics.authenticated(known ? 'success' : 'failure', performance.now() - began, context.user?.name);
    if (!known) return refuse(context);
    if (limitsHttp2 && context.user?.groups.includes(groupNames.unauthenticated)) closeOverHttp2(context);
    return next(context);
  };
  const failed = (context: RequestContext, error: unknown, began: number): void => {
    metrics.authenticated('error', performance.now() - began);
    onFailure(context, error);
    refuse(context);
  };
  return (next) => (context) => {
    const began = performance.now();
    let known: boolean | Promise<boolean>;
    try {
      known = guard.authenticate(context);
    } catch (error) {
      return failed(context, error, began);
    }
    if (typeof known === 'boolean') return proceed(next, context, known, began);
    return known.then(
      (answer) => proceed(next, context, answer, began),
      (error: unknown) => failed(context, error, began),
    );
  };
}

/** Closes an HTTP/2 connection after a request of an unauthenticated client, which must not use multiplexing (CVE-2023-44487). */
function closeOverHttp2({ exchange }: RequestContext): void {
  if (exchange.protocol === 'HTTP/2.0') exchange.closeConnectionAfter();
}
