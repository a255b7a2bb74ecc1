import type { DeviceAttribute } from '#kubernetes/schema/resource_v1.gen';

/** Attribute fields that are lists. Feature gate: DRAListTypeAttributes. */
export const listAttributes = ['bools', 'ints', 'strings', 'versions'] as const;

export function hasListAttribute({ bools, ints, strings, versions }: DeviceAttribute = {}): boolean {
  return (bools ?? ints ?? strings ?? versions) !== undefined;
}
