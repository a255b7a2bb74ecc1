import { newInternalError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';

/** Identity of the object in a record. `uid` is undefined if the stored object has none. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** Receives the message of each refused write, for the log: it is a fault of the server or of code that runs in it. */
export type OnRefusal = (message: string) => void;

/**
 * Throws InternalError if an object differs from the identity that it is to be stored under, because a plugin, webhook,
 * policy or hook, or the server itself, has changed it. Readers derive an object's identity from its key, so such a change
 * is always rejected.
 */
export function checkIdentity({ apiVersion, kind, metadata }: KubeObject, identity: Identity, onRefusal?: OnRefusal): void {
  if (
    kind === identity.kind &&
    apiVersion === identity.apiVersion &&
    metadata.name === identity.name &&
    (metadata.namespace ?? '') === identity.namespace &&
    (metadata.uid ?? '') === (identity.uid ?? '')
  )
    return;
  const { namespace = '', name, uid } = metadata;
  refuse(identity, { apiVersion, kind, namespace, name: name ?? '', uid }, onRefusal);
}

function refuse(identity: Identity, found: Identity, onRefusal: OnRefusal | undefined): never {
  const fields = { apiVersion: 'apiVersion', kind: 'kind', namespace: 'metadata.namespace', name: 'metadata.name', uid: 'metadata.uid' };
  const differences = (Object.keys(fields) as (keyof Identity)[])
    .filter((field) => (found[field] ?? '') !== (identity[field] ?? ''))
    .map((field) => `${fields[field]} is ${quote(String(found[field] ?? ''))}, not ${quote(String(identity[field] ?? ''))}`);
  const { kind, namespace, name } = identity;
  const subject = `${kind} ${quote(namespace === '' ? name : `${namespace}/${name}`)}`;
  const message = `cannot store ${subject}: its identity was changed after it was decoded: ${differences.join(', ')}`;
  onRefusal?.(message);
  throw newInternalError(message);
}
