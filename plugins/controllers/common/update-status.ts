import { type ClientTarget, type ControllerClient, isConflict, type KubeObject } from 'kubenest/sdk';

/**
 * Writes the status of an object. After a conflict it is written once more onto the newest state, if that is still the same object. Returns
 * the stored object; undefined if it does not exist any more. Upstream: updateReplicaSetStatus and others, with one retry.
 */
export async function updateStatus<T extends KubeObject>(
  client: ControllerClient,
  resource: ClientTarget,
  object: T,
  status: T['status'],
): Promise<T | undefined> {
  const target = { ...resource, subresource: 'status' };
  try {
    return await client.replace(target, { ...object, status });
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { namespace = '', name = '', uid } = object.metadata;
    const stored = await client.get(resource, namespace, name);
    if (stored?.metadata.uid !== uid) return undefined;
    return client.replace(target, { ...(stored as T), status });
  }
}
