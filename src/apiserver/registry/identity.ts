import { newInternalError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';

/** The object that a record holds. `uid`: undefined where the stored object has none. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/**
 * Throws InternalError for an object that is not the one that is to be stored: a plugin, a webhook, a policy or a hook made another of it, or
 * the server itself did. Readers take what a record is from the place where it stands, so it is refused whoever changed it.
 */
export function checkIdentity({ apiVersion, kind, metadata }: KubeObject, identity: Identity): void {
  if (
    kind === identity.kind &&
    apiVersion === identity.apiVersion &&
    metadata.name === identity.name &&
    (metadata.namespace ?? '') === identity.namespace &&
    (metadata.uid ?? '') === (identity.uid ?? '')
  )
    return;
  const { namespace = '', name, uid } = metadata;
  refuse(identity, { apiVersion, kind, namespace, name: name ?? '', uid });
}

function refuse(identity: Identity, found: Identity): never {
  const fields = { apiVersion: 'apiVersion', kind: 'kind', namespace: 'metadata.namespace', name: 'metadata.name', uid: 'metadata.uid' };
  const differences = (Object.keys(fields) as (keyof Identity)[])
    .filter((field) => (found[field] ?? '') !== (identity[field] ?? ''))
    .map((field) => `${fields[field]} is ${quote(String(found[field] ?? ''))}, not ${quote(String(identity[field] ?? ''))}`);
  const { kind, namespace, name } = identity;
  const subject = `${kind} ${quote(namespace === '' ? name : `${namespace}/${name}`)}`;
  throw newInternalError(`cannot store ${subject}: its identity was changed after it was decoded: ${differences.join(', ')}`);
}
