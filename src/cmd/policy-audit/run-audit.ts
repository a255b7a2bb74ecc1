import { isNotFound } from '#apimachinery/api/errors';
import { needsReport, policyReport, type ReportGroup } from '#apiserver/admission/scan/policy-report';
import { PolicyReports } from '#apiserver/admission/scan/policy-reports';
import { type AuditFormat, documentOf, tablesOf } from './audit-output.ts';
import { ClusterReportClient } from './report-client.ts';
import { type AuditedObject, PolicyAudit, type PolicyAuditOptions, type PolicySummary } from './policy-audit.ts';

/** The results that count as violations: `fail` includes `error`, `warn` includes both. */
export type FailOn = 'fail' | 'warn' | 'never';

export interface RunAuditOptions extends PolicyAuditOptions {
  readonly failOn: FailOn;
  readonly output: AuditFormat;
  /** Group of the reports that are written to the cluster; undefined: none. */
  readonly writeReports?: ReportGroup | undefined;
  /** True if the definitions of the reports are created first. */
  readonly installReportCrds?: boolean | undefined;
}

export interface AuditOutcome {
  /** 0: no violations, 1: violations, 2: the audit is incomplete. */
  readonly code: 0 | 1 | 2;
  readonly text: string;
}

/** Audits a cluster. Rejects if it cannot be read at all. */
export async function runAudit(options: RunAuditOptions): Promise<AuditOutcome> {
  const { failOn, writeReports } = options;
  await using audit = await PolicyAudit.open(options);
  const found: AuditedObject[] = [];
  const reports = writeReports && (await openReports(audit, writeReports, options.installReportCrds ?? false));
  for await (const one of audit.run()) {
    if (needsReport(one.verdicts)) found.push(withoutContent(one));
    await reports?.update(one.object, one.verdicts);
  }
  if (audit.isWhole) await reports?.removeStale();
  for (const { namespace, name, error } of reports?.failures ?? [])
    audit.notAudited.push({ resource: `report ${namespace}/${name}`, reason: error.message, isFailure: true });
  return { code: codeOf(audit, failOn), text: await textOf(audit, found, options) };
}

async function openReports({ cluster }: PolicyAudit, group: ReportGroup, installs: boolean): Promise<PolicyReports> {
  const client = new ClusterReportClient(cluster);
  if (installs) await client.install(group);
  const reports = new PolicyReports(group, client, () => new Date());
  try {
    await reports.begin();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`the cluster does not serve reports of ${group}: add --install-report-crds, or apply \`kubenest audit crds\``, {
      cause: error,
    });
  }
  return reports;
}

/** Drops the content of an object, so that memory grows with the number of violations only. */
function withoutContent({ object, verdicts }: AuditedObject): AuditedObject {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid } = metadata;
  return {
    object: { apiVersion, kind, metadata: { ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }) } },
    verdicts,
  };
}

function codeOf({ notAudited, summaries }: PolicyAudit, failOn: FailOn): 0 | 1 | 2 {
  if (notAudited.some(({ isFailure }) => isFailure)) return 2;
  const isViolated = ({ fail, error, warn }: PolicySummary): boolean => fail + error > 0 || (failOn === 'warn' && warn > 0);
  return failOn !== 'never' && summaries.some(isViolated) ? 1 : 0;
}

async function textOf(audit: PolicyAudit, found: readonly AuditedObject[], options: RunAuditOptions): Promise<string> {
  const { output } = options;
  if (output === 'table') return tablesOf(audit, found);
  const now = new Date();
  const document = documentOf(
    audit,
    found.map(({ object, verdicts }) => policyReport(options.writeReports ?? 'openreports.io', object, verdicts, now)),
  );
  if (output === 'json') return JSON.stringify(document, undefined, 2);
  const { stringify } = await import('yaml');
  return stringify(document).trimEnd();
}
