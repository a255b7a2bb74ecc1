import { randomUUID } from 'node:crypto';
import type { Filter } from '#apiserver/request/request-context';

/** Sets the Audit-Id of a request: the first of the client's, or a new one. Upstream: endpoints/filters/audit_init.go. */
export const withAuditId: Filter = (next) => (context) => {
  // Node joins the values of a repeated header.
  const sent = context.header('audit-id')?.includes(',') ? context.exchange.headerValues('audit-id')[0] : context.header('audit-id');
  context.auditId = sent || randomUUID();
  context.headers.push('Audit-Id', context.auditId);
  return next(context);
};
