import { readFile } from 'node:fs/promises';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { parseAuditPolicy } from '#cmd/config/audit-policy';
import type { AuditConfig, AuditDelivery } from '#cmd/server-config';
import type { AuditDeliveryOptions } from './audit-delivery-options.ts';
import type { AuditOptions } from './audit-options.ts';
import type { ServerOptions } from './server-options.ts';

type AuditParts = Pick<ServerOptions, 'audit' | 'auditLog' | 'auditWebhook'>;

/** undefined where nothing is audited. Rejects with the flag whose file is wrong, one problem a line. */
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

/** Rejects with what is wrong with the file, one problem a line. */
export async function readAuditPolicy(file: string): Promise<AuditPolicy> {
  return parseAuditPolicy(await readFile(file, 'utf8'));
}
