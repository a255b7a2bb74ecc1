import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

const modes = ['batch', 'blocking', 'blocking-strict'];
const version = 'audit.k8s.io/v1';

export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

const checkMode =
  (flag: string) =>
  (mode: string): string | undefined =>
    modes.includes(mode) ? undefined : `invalid audit ${flag} mode ${mode}, allowed modes are ${JSON.stringify(modes.join(','))}`;
const checkVersion = (value: string): string | undefined =>
  value === version ? undefined : `invalid audit group version ${value}, allowed versions are ${JSON.stringify(version)}`;
const positive = { message: '--audit-…: $property $value must be a positive number' };
const notNegative = { message: '--audit-…: $property $value must not be negative' };

/** What is noted of requests, and where. Upstream: apiserver/pkg/server/options/audit.go. */
export class AuditOptions {
  /** Without it nothing is audited. */
  @Flag('audit-policy-file')
  auditPolicyFile = '';

  /** `-`: standard output. */
  @Flag('audit-log-path')
  @Check<AuditOptions>((path: string, { auditPolicyFile }) =>
    path !== '' && auditPolicyFile === '' ? '--audit-log-path is set but no --audit-policy-file is: nothing would be audited' : undefined,
  )
  auditLogPath = '';

  @Flag('audit-log-format')
  @Check<AuditOptions>((format: string) =>
    format === 'json' || format === 'legacy' ? undefined : `invalid audit log format ${format}, allowed formats are "legacy,json"`,
  )
  auditLogFormat: 'json' | 'legacy' = 'json';

  @Flag('audit-log-version')
  @Check<AuditOptions>(checkVersion)
  auditLogVersion = version;

  /** Days. */
  @Flag('audit-log-maxage')
  @Min(0, { message: "--audit-log-maxage $value can't be a negative number" })
  auditLogMaxage = 366;

  @Flag('audit-log-maxbackup')
  @Min(0, { message: "--audit-log-maxbackup $value can't be a negative number" })
  auditLogMaxbackup = 100;

  /** Megabytes. */
  @Flag('audit-log-maxsize')
  @Min(0, { message: "--audit-log-maxsize $value can't be a negative number" })
  auditLogMaxsize = 100;

  @Flag('audit-log-compress')
  auditLogCompress = false;

  @Flag('audit-log-mode')
  @Check<AuditOptions>(checkMode('log'))
  auditLogMode: AuditMode = 'blocking';

  @Flag('audit-log-batch-buffer-size')
  @Min(1, positive)
  auditLogBatchBufferSize = 10_000;

  @Flag('audit-log-batch-max-size')
  @Min(1, positive)
  auditLogBatchMaxSize = 1;

  @Flag('audit-log-batch-max-wait')
  @Min(0, notNegative)
  auditLogBatchMaxWait = 0;

  @Flag('audit-log-batch-throttle-enable')
  auditLogBatchThrottleEnable = false;

  @Flag('audit-log-batch-throttle-qps')
  @Min(0, notNegative)
  auditLogBatchThrottleQps = 0;

  @Flag('audit-log-batch-throttle-burst')
  @Min(0, notNegative)
  auditLogBatchThrottleBurst = 0;

  @Flag('audit-log-truncate-enabled')
  auditLogTruncateEnabled = false;

  @Flag('audit-log-truncate-max-event-size')
  @Min(1, positive)
  auditLogTruncateMaxEventSize = 102_400;

  @Flag('audit-log-truncate-max-batch-size')
  @Min(1, positive)
  auditLogTruncateMaxBatchSize = 10_485_760;

  @Flag('audit-webhook-config-file')
  @Check<AuditOptions>((file: string, { auditPolicyFile }) =>
    file !== '' && auditPolicyFile === ''
      ? '--audit-webhook-config-file is set but no --audit-policy-file is: nothing would be audited'
      : undefined,
  )
  auditWebhookConfigFile = '';

  @Flag('audit-webhook-version')
  @Check<AuditOptions>(checkVersion)
  auditWebhookVersion = version;

  @Flag('audit-webhook-initial-backoff')
  @Min(0, notNegative)
  auditWebhookInitialBackoff = 10_000;

  @Flag('audit-webhook-mode')
  @Check<AuditOptions>(checkMode('webhook'))
  auditWebhookMode: AuditMode = 'batch';

  @Flag('audit-webhook-batch-buffer-size')
  @Min(1, positive)
  auditWebhookBatchBufferSize = 10_000;

  @Flag('audit-webhook-batch-max-size')
  @Min(1, positive)
  auditWebhookBatchMaxSize = 400;

  @Flag('audit-webhook-batch-max-wait')
  @Min(0, notNegative)
  auditWebhookBatchMaxWait = 30_000;

  @Flag('audit-webhook-batch-throttle-enable')
  auditWebhookBatchThrottleEnable = true;

  @Flag('audit-webhook-batch-throttle-qps')
  @Min(0, notNegative)
  auditWebhookBatchThrottleQps = 10;

  @Flag('audit-webhook-batch-throttle-burst')
  @Min(0, notNegative)
  auditWebhookBatchThrottleBurst = 15;

  @Flag('audit-webhook-truncate-enabled')
  auditWebhookTruncateEnabled = false;

  @Flag('audit-webhook-truncate-max-event-size')
  @Min(1, positive)
  auditWebhookTruncateMaxEventSize = 102_400;

  @Flag('audit-webhook-truncate-max-batch-size')
  @Min(1, positive)
  auditWebhookTruncateMaxBatchSize = 10_485_760;
}
