import { type AuthorizationGuard, DeniedError } from '#apiserver/authorization/authorization.guard';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';
import type { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';
import type { RequestTrace } from '#apiserver/request/request-trace';
import type { RequestTraces } from '#apiserver/tracing/request-traces';

const results = { Deny: 'denied', NoOpinion: 'no-opinion' } as const;

/**
 * Runs the AuthorizationGuard in the chain. For a traced request, it first determines whether the user may read traces. Upstream:
 * endpoints/filters/authorization.go.
 */
export function withAuthorization(
  guard: Pick<AuthorizationGuard, 'authorize' | 'authorizer'>,
  traces: RequestTraces,
  metrics: Pick<AccessMetrics, 'authorized'>,
): Filter {
  const proceed = (next: Handler, context: RequestContext, began: number): void | Promise<void> => {
    metrics.authorized('allowed', performance.now() - began);
    return next(context);
  };
  const refuse = (context: RequestContext, error: unknown, began: number): void => {
    metrics.authorized(error instanceof DeniedError ? results[error.decision] : 'error', performance.now() - began);
    context.headers.push('X-Content-Type-Options', 'nosniff');
    respondError(context, error);
  };
  const authorizeTraced = async (context: RequestContext, trace: RequestTrace): Promise<boolean> => {
    await traces.authorize(context, trace, guard.authorizer);
    return guard.authorize(context);
  };
  return (next) => (context) => {
    const began = performance.now();
    let allowed: boolean | Promise<boolean>;
    const { trace } = context;
    try {
      allowed = trace ? authorizeTraced(context, trace) : guard.authorize(context);
    } catch (error) {
      return refuse(context, error, began);
    }
    if (typeof allowed === 'boolean') return proceed(next, context, began);
    return allowed.then(
      () => proceed(next, context, began),
      (error: unknown) => refuse(context, error, began),
    );
  };
}
