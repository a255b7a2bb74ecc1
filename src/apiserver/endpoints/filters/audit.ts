import { newInternalError } from '#apimachinery/api/errors';
import type { AuditMetrics } from '#apiserver/audit/audit-metrics';
import type { AuditBackend } from '#apiserver/audit/event';
import type { PolicyEvaluator } from '#apiserver/audit/policy';
import { RequestAudit } from '#apiserver/audit/request-audit';
import { authorizationAttributes } from '#apiserver/authorization/authorization.guard';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, Handler, RequestContext } from '#apiserver/endpoints/request/request-context';

/** What audits requests: without it nothing is noted of any. */
export interface Auditing {
  readonly policy: PolicyEvaluator;
  readonly backend: AuditBackend;
  readonly metrics: AuditMetrics;
}

/** From here on filters can note annotations. Upstream: endpoints/filters/audit_init.go. */
export function withAuditAnnotations(auditing: Auditing | undefined): Filter {
  if (!auditing) return (next) => next;
  return (next) => (context) => {
    context.auditAnnotations = new Map();
    return next(context);
  };
}

/** Makes the events of a request as the policy asks for them. A request whose first event cannot be stored is refused. Upstream: endpoints/filters/audit.go. */
export function withAudit(auditing: Auditing | undefined): Filter {
  if (!auditing) return (next) => next;
  const { policy, metrics } = auditing;
  return (next) => (context) => {
    const decision = policy.evaluate(authorizationAttributes(context));
    metrics.decided(decision);
    if (decision.level === 'None') return next(context);
    const audit = new RequestAudit(context, decision, auditing);
    const proceed = (stored: boolean): void | Promise<void> => {
      if (!stored) {
        metrics.refused();
        return respondError(context, newInternalError(new Error('failed to store audit event')));
      }
      context.audit = audit;
      context.exchange.onClose(() => audit.completed());
      return observed(next, context, audit);
    };
    const stored = audit.received();
    return typeof stored === 'boolean' ? proceed(stored) : stored.then(proceed);
  };
}

/** The rest of the chain; what it throws is a panic. */
function observed(next: Handler, context: RequestContext, audit: RequestAudit): void | Promise<void> {
  try {
    return next(context)?.catch((error: unknown) => {
      audit.panicked(error);
      throw error;
    });
  } catch (error) {
    audit.panicked(error);
    throw error;
  }
}

/** One event for a request of somebody whom nobody knows. Upstream: endpoints/filters/authn_audit.go. */
export function auditFailedAuthentication(auditing: Auditing | undefined, context: RequestContext): void {
  if (!auditing) return;
  const attributes = { ...context.info, user: undefined };
  const decision = auditing.policy.evaluate(attributes);
  auditing.metrics.decided(decision);
  if (decision.level !== 'None') new RequestAudit(context, decision, auditing).refused();
}
