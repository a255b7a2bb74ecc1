import { readFile } from 'node:fs/promises';
import { readKubeconfig } from '#apiserver/webhook/kubeconfig';
import { parseAuditPolicy } from '#cmd/config/audit-policy';
import type { AuditConfig, AuditDelivery } from '#cmd/server-config';
import type { AuditOptions } from './audit-options.ts';

/** undefined where nothing is audited. Rejects with the flag whose file is wrong, one problem a line. */
export async function auditOf(options: AuditOptions): Promise<AuditConfig | undefined> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options;
  if (auditPolicyFile === '' || (auditLogPath === '' && auditWebhookConfigFile === '')) return undefined;
  const policy = await named('--audit-policy-file', readFile(auditPolicyFile, 'utf8').then(parseAuditPolicy));
  return {
    policy,
    log: auditLogPath === '' ? undefined : { ...logOf(options), delivery: logDelivery(options) },
    webhook:
      auditWebhookConfigFile === ''
        ? undefined
        : {
            connection: await named('--audit-webhook-config-file', readKubeconfig(auditWebhookConfigFile)),
            initialBackoffMs: options.auditWebhookInitialBackoff,
            delivery: webhookDelivery(options),
          },
  };
}

function logOf(options: AuditOptions): Omit<NonNullable<AuditConfig['log']>, 'delivery'> {
  return {
    path: options.auditLogPath,
    format: options.auditLogFormat,
    maxSizeBytes: options.auditLogMaxsize * 1024 * 1024,
    maxAgeDays: options.auditLogMaxage,
    maxBackups: options.auditLogMaxbackup,
    compress: options.auditLogCompress,
  };
}

function logDelivery(options: AuditOptions): AuditDelivery {
  return {
    mode: options.auditLogMode,
    batch: {
      bufferSize: options.auditLogBatchBufferSize,
      maxBatchSize: options.auditLogBatchMaxSize,
      maxWaitMs: options.auditLogBatchMaxWait,
      throttle: options.auditLogBatchThrottleEnable
        ? { qps: options.auditLogBatchThrottleQps, burst: options.auditLogBatchThrottleBurst }
        : undefined,
    },
    truncate: options.auditLogTruncateEnabled
      ? { maxEventSize: options.auditLogTruncateMaxEventSize, maxBatchSize: options.auditLogTruncateMaxBatchSize }
      : undefined,
  };
}

function webhookDelivery(options: AuditOptions): AuditDelivery {
  return {
    mode: options.auditWebhookMode,
    batch: {
      bufferSize: options.auditWebhookBatchBufferSize,
      maxBatchSize: options.auditWebhookBatchMaxSize,
      maxWaitMs: options.auditWebhookBatchMaxWait,
      throttle: options.auditWebhookBatchThrottleEnable
        ? { qps: options.auditWebhookBatchThrottleQps, burst: options.auditWebhookBatchThrottleBurst }
        : undefined,
    },
    truncate: options.auditWebhookTruncateEnabled
      ? { maxEventSize: options.auditWebhookTruncateMaxEventSize, maxBatchSize: options.auditWebhookTruncateMaxBatchSize }
      : undefined,
  };
}

async function named<T>(flag: string, work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw new Error(
      (cause as Error).message
        .split('\n')
        .map((line) => `${flag}: ${line}`)
        .join('\n'),
      { cause },
    );
  });
}
