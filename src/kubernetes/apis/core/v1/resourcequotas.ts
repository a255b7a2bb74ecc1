import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { compareBytes, stringColumn } from '#kubernetes/apis/columns';
import {
  resourceQuotaWarnings,
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from '#kubernetes/apis/core/validation/quota';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { ResourceQuota } from '#kubernetes/schema/core_v1.gen';
import { defaultResourceQuota } from './defaults.ts';

/** Formats `cpu: 1/2, memory: 1Gi/4Gi`, either of limits (`limits.cpu`) or of all other resources. */
function usageText({ status }: ResourceQuota, limits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter((resource) => resource.startsWith('limits.') === limits)
    .sort(compareBytes)
    .map((resource) => `${resource}: ${status?.used?.[resource] ?? '0'}/${status?.hard?.[resource] ?? '0'}`)
    .join(', ');
}

export default defineResource<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  shortNames: ['quota'],
  storageVersionHash: '8uhSgffRX6w=',
  schema: 'core_v1.ResourceQuota',
  storagePath: 'resourcequotas',
  defaults: defaultResourceQuota,
  strategy: withoutStatus({
    returnsDeletedObject: true,
    validate: validateResourceQuota,
    validateUpdate: validateResourceQuotaUpdate,
    warningsOnCreate: resourceQuotaWarnings,
  }),
  columns: [
    nameColumn,
    stringColumn('Request', 'Request represents a minimum amount of cpu/memory that a container may consume.', (quota) =>
      usageText(quota, false),
    ),
    stringColumn(
      'Limit',
      'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      (quota) => usageText(quota, true),
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ strategy: { validateUpdate: validateResourceQuotaStatus } }),
  },
});
