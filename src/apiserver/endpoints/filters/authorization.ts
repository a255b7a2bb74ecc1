import type { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';
import type { RequestTrace } from '#apiserver/trace/request-trace';
import type { RequestTraces } from '#apiserver/trace/request-traces';

/** Puts the AuthorizationGuard into the chain; of a request that is traced, it finds out before who may see that. Upstream: endpoints/filters/authorization.go. */
export function withAuthorization(guard: Pick<AuthorizationGuard, 'authorize' | 'authorizer'>, traces: RequestTraces): Filter {
  const refuse = (context: RequestContext, error: unknown): void => {
    context.headers.push('X-Content-Type-Options', 'nosniff');
    respondError(context, error);
  };
  const authorizeTraced = async (context: RequestContext, trace: RequestTrace): Promise<boolean> => {
    await traces.authorize(context, trace, guard.authorizer);
    return guard.authorize(context);
  };
  return (next) => (context) => {
    let allowed: boolean | Promise<boolean>;
    const { trace } = context;
    try {
      allowed = trace ? authorizeTraced(context, trace) : guard.authorize(context);
    } catch (error) {
      return refuse(context, error);
    }
    if (typeof allowed === 'boolean') return next(context);
    return allowed.then(
      () => next(context),
      (error: unknown) => refuse(context, error),
    );
  };
}
