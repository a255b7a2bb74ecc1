import type { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';

/** Puts the AuthorizationGuard into the chain. Upstream: endpoints/filters/authorization.go. */
export function withAuthorization(guard: Pick<AuthorizationGuard, 'authorize'>): Filter {
  const refuse = (context: RequestContext, error: unknown): void => {
    context.headers.push('X-Content-Type-Options', 'nosniff');
    respondError(context, error);
  };
  return (next) => (context) => {
    let allowed: boolean | Promise<boolean>;
    try {
      allowed = guard.authorize(context);
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
