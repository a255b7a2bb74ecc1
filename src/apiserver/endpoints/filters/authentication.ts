import { newUnauthorized } from '#apimachinery/api/errors';
import type { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { groupNames } from '#apiserver/request/user-info';
import { type Auditing, auditFailedAuthentication } from './audit.ts';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';
import type { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';

export interface AuthenticationFilterOptions {
  readonly guard: Pick<AuthenticationGuard, 'authenticate'>;
  readonly onFailure: (context: RequestContext, error: unknown) => void;
  readonly auditing: Auditing | undefined;
  readonly metrics: Pick<AccessMetrics, 'authenticated'>;
  /** True: HTTP/2 connections are closed after requests of unauthenticated clients. */
  readonly limitsHttp2: boolean;
}

/**
 * Runs the AuthenticationGuard in the chain. An unauthenticated client receives 401 without a reason. Upstream:
 * endpoints/filters/authentication.go.
 */
export function withAuthentication({ guard, onFailure, auditing, metrics, limitsHttp2 }: AuthenticationFilterOptions): Filter {
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
