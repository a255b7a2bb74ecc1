import { hasStatusCause } from 'kubenest/sdk';

/** True if an object was refused because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return hasStatusCause(error, 'NamespaceTerminating');
}
