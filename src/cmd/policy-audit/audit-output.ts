import type { PolicyReport } from '#apiserver/admission/scan/policy-report';
import type { AuditedObject, NotAudited, PolicyAudit, PolicySummary } from './policy-audit.ts';
import { textTable } from '#cmd/commands/text-table';

export type AuditFormat = 'table' | 'json' | 'yaml';

/** Result of an audit in its published form. */
export interface AuditDocument {
  readonly apiVersion: 'kubenest.dev/v1alpha1';
  readonly kind: 'PolicyAudit';
  /** Number of objects that were read. */
  readonly objects: number;
  readonly policies: readonly PolicySummary[];
  readonly notAudited: readonly NotAudited[];
  /** Reports about the objects with a verdict other than `pass`. */
  readonly reports: readonly PolicyReport[];
}

export function documentOf(audit: PolicyAudit, reports: readonly PolicyReport[]): AuditDocument {
  const { objects, summaries: policies, notAudited } = audit;
  return { apiVersion: 'kubenest.dev/v1alpha1', kind: 'PolicyAudit', objects, policies, notAudited, reports };
}

/** Returns the table of verdicts other than `pass`, and the summary by policy. */
export function tablesOf(audit: PolicyAudit, found: readonly AuditedObject[]): string {
  const rows = found.flatMap(({ object: { kind, metadata }, verdicts }) =>
    verdicts
      .filter(({ result }) => result !== 'pass')
      .map(({ policy, rule = '', result, message = '' }) => [
        metadata.namespace ?? '',
        `${kind}/${metadata.name ?? ''}`,
        policy,
        rule,
        result,
        message.replaceAll(/\s+/g, ' '),
      ]),
  );
  const summary = audit.summaries.map(({ policy, pass, fail, warn, error, skip }) => [
    policy,
    ...[pass, fail, warn, error, skip].map(String),
  ]);
  const blocks = [
    ...(rows.length > 0 ? [textTable(['NAMESPACE', 'OBJECT', 'POLICY', 'RULE', 'RESULT', 'MESSAGE'], rows)] : []),
    ...(summary.length > 0 ? [textTable(['POLICY', 'PASS', 'FAIL', 'WARN', 'ERROR', 'SKIP'], summary)] : []),
    [`${audit.objects} objects`, ...audit.notAudited.map(({ resource, reason }) => `not audited: ${resource}: ${reason}`)].join('\n'),
  ];
  return blocks.join('\n\n');
}
