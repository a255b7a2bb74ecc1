import {
  type ClientTarget,
  type ControllerClient,
  controllerOf,
  type GroupVersionKind,
  isNotFound,
  type KubeObject,
  type LabelSelector,
  newControllerReference,
  StatusError,
} from 'kubenest/sdk';

export interface ClaimOptions {
  readonly client: ControllerClient;
  /** The owner's resource and kind. */
  readonly ownerResource: ClientTarget & GroupVersionKind;
  /** Resource of the claimed objects. */
  readonly target: ClientTarget;
  /** Finalizers to add on adoption and to remove on release. */
  readonly finalizers?: readonly string[];
  /** Condition beside the selector that an object of the owner satisfies. */
  isMember?(object: KubeObject): boolean;
}

/** Decision of an owner about an object that may be its own. */
export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/**
 * Decides about an object. Upstream: BaseControllerRefManager.ClaimObject of pkg/controller/controller_ref_manager.go.
 *
 * | controller | selector and condition match | owner is being deleted | object is being deleted | result |
 * |---|---|---|---|---|
 * | another | | | | ignore |
 * | the owner | yes | | | keep |
 * | the owner | no | no | | release |
 * | the owner | no | yes | | ignore |
 * | none | yes | no | no | adopt |
 * | none | otherwise | | | ignore |
 */
export function claimOf(owner: KubeObject, isMatched: boolean, object: KubeObject): Claim {
  const controller = controllerOf(object);
  if (controller) {
    if (controller.uid !== owner.metadata.uid) return 'ignore';
    if (isMatched) return 'keep';
    return owner.metadata.deletionTimestamp ? 'ignore' : 'release';
  }
  const isAdopted = isMatched && !owner.metadata.deletionTimestamp && !object.metadata.deletionTimestamp;
  return isAdopted ? 'adopt' : 'ignore';
}

/** Returns the objects of the owner, after it has adopted the orphans that its selector matches and released the others. */
export async function claimObjects<T extends KubeObject>(
  options: ClaimOptions,
  owner: KubeObject,
  selector: LabelSelector,
  candidates: readonly T[],
): Promise<T[]> {
  let mayAdopt: Promise<void> | undefined;
  const result: T[] = [];
  for (const object of candidates) {
    const isMatched = selector.matches(object.metadata.labels ?? {}) && (options.isMember?.(object) ?? true);
    switch (claimOf(owner, isMatched, object)) {
      case 'keep':
        result.push(object);
        break;
      case 'release':
        await release(options, owner, object);
        break;
      case 'adopt':
        mayAdopt ??= assertExists(options, owner);
        await mayAdopt;
        result.push(...(await adopt(options, owner, object)));
        break;
      case 'ignore':
    }
  }
  return result;
}

/** Rejects if the stored owner is another object or being deleted, which the informer may not know yet. */
async function assertExists({ client, ownerResource }: ClaimOptions, owner: KubeObject): Promise<void> {
  const { namespace = '', name = '', uid } = owner.metadata;
  const stored = await client.get(ownerResource, namespace, name);
  const title = `${ownerResource.kind} ${namespace}/${name}`;
  if (stored?.metadata.uid !== uid) throw new Error(`original ${title} is gone: got uid ${stored?.metadata.uid ?? ''}, wanted ${uid}`);
  if (stored?.metadata.deletionTimestamp) throw new Error(`${namespace}/${name} has just been deleted`);
}

/** Returns the adopted object; nothing if it is gone. */
async function adopt<T extends KubeObject>(options: ClaimOptions, owner: KubeObject, { metadata }: T): Promise<T[]> {
  const { client, ownerResource, target, finalizers } = options;
  const ownerReferences = [newControllerReference(owner, ownerResource)];
  const patch = { metadata: { uid: metadata.uid, ownerReferences, ...(finalizers && { finalizers }) } };
  try {
    return [await client.patch<T>(target, metadata.namespace as string, metadata.name as string, { type: 'strategic', patch })];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** An object that is gone, or another one of the same name, has nothing to release. */
async function release({ client, target, finalizers }: ClaimOptions, owner: KubeObject, { metadata }: KubeObject): Promise<void> {
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }];
  const removed = finalizers && { '$deleteFromPrimitiveList/finalizers': finalizers };
  const patch = { metadata: { uid: metadata.uid, ownerReferences, ...removed } };
  try {
    await client.patch(target, metadata.namespace as string, metadata.name as string, { type: 'strategic', patch });
  } catch (error) {
    if (!isNotFound(error) && !(error instanceof StatusError && error.status.reason === 'Invalid')) throw error;
  }
}
