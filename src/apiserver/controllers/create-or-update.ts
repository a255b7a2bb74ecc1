import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { ClientTarget, RequestClient } from '#apiserver/registry/client';
import type { OfType } from '#apiserver/registry/kind';

/** Outcome of `createOrUpdate`: the object as stored, and what was written. */
export interface CreatedOrUpdated<T extends KubeObject> {
  readonly object: T;
  readonly outcome: 'created' | 'updated' | 'unchanged';
}

/**
 * Brings an object to the state that `change` gives it. `change` gets the stored object, or `initial` if there is none, and modifies it in
 * place; an object that it leaves unchanged is not written. After a conflict, `change` is called again with the newer object. Rejects with
 * AlreadyExists if another client creates the object meanwhile, and throws if `change` changes its name or namespace. Upstream:
 * controller-runtime/pkg/controller/controllerutil CreateOrUpdate.
 */
export async function createOrUpdate<T extends KubeObject>(
  client: RequestClient,
  target: ClientTarget & OfType<T>,
  initial: T,
  change: (object: T) => void,
): Promise<CreatedOrUpdated<T>> {
  const { namespace = '', name } = initial.metadata;
  if (!name) throw new Error('createOrUpdate: the object has no name');
  const changed = (object: T): T => {
    const next = deepCopy(object);
    change(next);
    const { metadata } = next;
    if (metadata.name !== name || (metadata.namespace ?? '') !== namespace)
      throw new Error(`createOrUpdate: the change of ${target.resource} ${name} changes its name or namespace`);
    return next;
  };
  let present: T | undefined;
  const updated = await client.update(target, namespace, name, (current: T) => {
    present = current;
    const next = changed(current);
    return deepEqual(next, current) ? undefined : next;
  });
  if (updated) return { object: updated, outcome: 'updated' };
  if (present) return { object: present, outcome: 'unchanged' };
  return { object: await client.create(target, changed(initial)), outcome: 'created' };
}
