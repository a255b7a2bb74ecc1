import { withConversions } from '#apimachinery/managedfields/awaited-conversions';
import type { FieldManager } from '#apimachinery/managedfields/field-manager';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** Runs the work of an endpoint's field manager, with the conversions of a webhook if there is one. */
export function managingFields<T>(
  { fieldManager, converter }: Pick<ResourceEndpoint, 'fieldManager' | 'converter'>,
  work: (manager: FieldManager) => T | Promise<T>,
): T | Promise<T> {
  return converter ? withConversions(fieldManager, converter, work) : work(fieldManager);
}
