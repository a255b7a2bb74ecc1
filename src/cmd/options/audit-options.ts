import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

/** Rejects a backend without a policy: it would record nothing. */
function needsPolicy(flag: string): PropertyDecorator {
  return Check<AuditOptions>((file: string, { auditPolicyFile }) =>
    file !== '' && auditPolicyFile === '' ? `--${flag} is set but no --audit-policy-file is: nothing would be audited` : undefined,
  );
}

/** Audit policy and backends. Upstream: apiserver/pkg/server/options/audit.go. */
export class AuditOptions {
  /** Path of the audit policy; without it, nothing is audited. */
  @Flag('audit-policy-file')
  auditPolicyFile = '';

  /** Path of the audit log; `-` is standard output. */
  @Flag('audit-log-path')
  @needsPolicy('audit-log-path')
  auditLogPath = '';

  @Flag('audit-log-format')
  @Check<AuditOptions>((format: string) =>
    format === 'json' || format === 'legacy' ? undefined : `invalid audit log format ${format}, allowed formats are "legacy,json"`,
  )
  auditLogFormat: 'json' | 'legacy' = 'json';

  /** Maximum age of rotated files in days. */
  @Flag('audit-log-maxage')
  @Min(0, { message: "--audit-log-maxage $value can't be a negative number" })
  auditLogMaxage = 366;

  @Flag('audit-log-maxbackup')
  @Min(0, { message: "--audit-log-maxbackup $value can't be a negative number" })
  auditLogMaxbackup = 100;

  /** Maximum size of a file in megabytes. */
  @Flag('audit-log-maxsize')
  @Min(0, { message: "--audit-log-maxsize $value can't be a negative number" })
  auditLogMaxsize = 100;

  @Flag('audit-log-compress')
  auditLogCompress = false;

  @Flag('audit-webhook-config-file')
  @needsPolicy('audit-webhook-config-file')
  auditWebhookConfigFile = '';

  @Flag('audit-webhook-initial-backoff')
  @Flag('audit-webhook-batch-initial-backoff')
  @Min(0, { message: '--audit-webhook-initial-backoff can not be negative value' })
  auditWebhookInitialBackoff = 10_000;
}
