import { readText } from '#apiserver/base/system-error';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { parseAuditPolicy } from '#cmd/config/audit-policy';
import type { AuditConfig, AuditDelivery } from '#cmd/server-config';
import type { AuditDeliveryOptions } from './audit-delivery-options.ts';
import type { AuditOptions } from './audit-options.ts';
import type { ServerOptions } from './server-options.ts';

type AuditParts = Pick<ServerOptions, 'audit' | 'auditLog' | 'auditWebhook'>;

/** Returns the audit configuration; undefined if nothing is audited. Rejects with the flags of invalid files, one problem per line. */
export async function auditOf({ audit: options, auditLog, auditWebhook }: AuditParts): Promise<AuditConfig | undefined> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options;
  if (auditPolicyFile === '') return undefined;
  const policy = await named('--audit-policy-file', readAuditPolicy(auditPolicyFile));
  return {
    policy,
    log: auditLogPath === '' ? undefined : { ...logOf(options), delivery: deliveryOf(auditLog) },
    webhook:
      auditWebhookConfigFile === ''
        ? undefined
        : {
            connection: await named('--audit-webhook-config-file', readKubeconfig(auditWebhookConfigFile)),
            initialBackoffMs: options.auditWebhookInitialBackoff,
            delivery: deliveryOf(auditWebhook),
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

function deliveryOf(options: AuditDeliveryOptions): AuditDelivery {
  return {
    mode: options.mode,
    batch: {
      bufferSize: options.batchBufferSize,
      maxBatchSize: options.batchMaxSize,
      maxWaitMs: options.batchMaxWait,
      throttle: options.batchThrottleEnable ? { qps: options.batchThrottleQps, burst: options.batchThrottleBurst } : undefined,
    },
    truncate: options.truncateEnabled
      ? { maxEventSize: options.truncateMaxEventSize, maxBatchSize: options.truncateMaxBatchSize }
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

/** Reads an audit policy. Rejects with the problems of the file, one per line. */
export async function readAuditPolicy(file: string): Promise<AuditPolicy> {
  return parseAuditPolicy(await readText(file));
}
