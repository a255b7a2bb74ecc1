import type { ObjectMeta } from '#apimachinery/meta/types';

const systemFields = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const;

/**
 * Removes the metadata fields that only the server sets from a new object. Upstream:
 * registry/rest/meta.go (WipeObjectMetaSystemFields).
 */
export function wipeSystemFields(metadata: ObjectMeta): void {
  for (const field of systemFields) if (metadata[field] !== undefined) delete metadata[field];
}
