import { randomUUID } from 'node:crypto';
import type { Filter } from '#apiserver/request/request-context';

/** Sets the Audit-Id of a request: the client's, of at most 64 bytes, or a new one. Upstream: endpoints/filters/audit_init.go. */
export const withAuditId: Filter = (next) => (context) => {
  const sent = context.header('audit-id');
  context.auditId = sent ? sent.slice(0, 64) : randomUUID();
  context.headers.push('Audit-Id', context.auditId);
  return next(context);
};
