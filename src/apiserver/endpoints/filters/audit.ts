import { newInternalError } from '#apimachinery/api/errors';
import type { PolicyEvaluator } from '#apiserver/audit/policy';
import { type AuditOutlet, RequestAudit } from '#apiserver/audit/request-audit';
import { authorizationAttributes } from '#apiserver/authorization/authorization.guard';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import { ClientGoneError } from '#apiserver/request/exchange';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';

/** Audits requests. */
export interface Auditing extends AuditOutlet {
  readonly policy: PolicyEvaluator;
}

/** Enables audit annotations for subsequent filters. Upstream: endpoints/filters/audit_init.go. */
export function withAuditAnnotations(auditing: Auditing | undefined): Filter {
  if (!auditing) return (next) => next;
  return (next) => (context) => {
    context.auditAnnotations = new Map();
    return next(context);
  };
}

/**
 * Creates the audit events of a request according to the policy. Rejects a request whose first event cannot be stored. Upstream:
 * endpoints/filters/audit.go.
 */
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
      return observed(next, context, audit);
    };
    const stored = audit.received();
    return typeof stored === 'boolean' ? proceed(stored) : stored.then(proceed);
  };
}

/**
 * Runs the rest of the chain; an error counts as a panic. The audit completes when a streamed response is closed, or when a request
 * without a response is over.
 */
function observed(next: Handler, context: RequestContext, audit: RequestAudit): void | Promise<void> {
  const completeOnceClosed = (): void => {
    if (!audit.isDone) context.exchange.onClose(() => audit.completed());
  };
  const panicked = (error: unknown): never => {
    if (!(error instanceof ClientGoneError)) audit.panicked(error);
    throw error;
  };
  try {
    const result = next(context);
    audit.handOver();
    if (result === undefined || context.longRunning) completeOnceClosed();
    else context.whenSettled(completeOnceClosed);
    return result?.catch(panicked);
  } catch (error) {
    return panicked(error);
  }
}

/** Audits a request that failed authentication with one event. Upstream: endpoints/filters/authn_audit.go. */
export function auditFailedAuthentication(auditing: Auditing | undefined, context: RequestContext): void {
  if (!auditing) return;
  const attributes = { ...context.info, user: undefined };
  const decision = auditing.policy.evaluate(attributes);
  auditing.metrics.decided(decision);
  if (decision.level !== 'None') new RequestAudit(context, decision, auditing).refused();
}
