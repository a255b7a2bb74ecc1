import { withConversions } from '#apimachinery/managedfields/awaited-conversions';
import type { FieldManager } from '#apimachinery/managedfields/field-manager';
import type { Pace } from '#apimachinery/runtime/pace';
import type { Steps } from '#apimachinery/runtime/steps';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** Runs the work of an endpoint's field manager at a pace, with the conversions of a webhook if there is one. */
export function managingFields<T>(
  { fieldManager, converter }: Pick<ResourceEndpoint, 'fieldManager'> & Partial<Pick<ResourceEndpoint, 'converter'>>,
  pace: Pace,
  whole: (manager: FieldManager) => T,
  chunked: (manager: FieldManager) => Steps<T>,
): T | Promise<T> {
  if (converter) return withConversions(fieldManager, converter, { whole: pace.isImmediate ? whole : undefined, chunked });
  return pace.either(
    () => whole(fieldManager),
    () => chunked(fieldManager),
  );
}
