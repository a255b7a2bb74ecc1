import { type ControllerClient, isNotFound, type KubeObject, type ServedResource, type servedResources, StatusError } from 'kubenest/sdk';

/** Result of an attempt to delete the content of a namespace. */
export interface DeletionOutcome {
  /** Number of remaining objects by resource (`pods.`, `deployments.apps`). */
  readonly remaining: ReadonlyMap<string, number>;
  /** Number of objects that wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Problems of single resources. */
  readonly errors: readonly string[];
  /** GROUP/VERSION of the groups whose resources are unknown at the moment. */
  readonly undiscovered: readonly string[];
}

const pods = { group: '', resource: 'pods' };
const background = { propagationPolicy: 'Background' } as const;

/**
 * Deletes the objects of a namespace: pods first, and the others only when no pod is left. Upstream: namespaced_resources_deleter.go with
 * the gate OrderedNamespaceDeletion.
 */
export async function deleteContent(
  client: ControllerClient,
  namespace: string,
  served: Awaited<ReturnType<typeof servedResources>>,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const deletable = served.resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete') && verbs.includes('list'));
  const isPods = ({ group, resource }: ServedResource): boolean => group === pods.group && resource === pods.resource;
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const errors: string[] = [];
  for (const resources of [deletable.filter(isPods), deletable.filter((resource) => !isPods(resource))]) {
    for (const resource of resources) {
      signal.throwIfAborted();
      try {
        const left = await deleteAll(client, namespace, resource);
        if (left.length > 0) remaining.set(`${resource.resource}.${resource.group}`, left.length);
        for (const finalizer of left.flatMap(({ metadata }) => metadata.finalizers ?? []))
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      } catch (error) {
        errors.push((error as Error).message);
      }
    }
    if (remaining.size > 0) break;
  }
  return { remaining, finalizers, errors, undiscovered: served.unavailable };
}

/** Deletes the objects of a resource and returns those that remain. */
async function deleteAll(client: ControllerClient, namespace: string, resource: ServedResource): Promise<KubeObject[]> {
  const list = (): Promise<KubeObject[]> => client.list(resource, namespace).catch(emptyIfNotServed);
  const objects = await list();
  if (objects.length === 0) return [];
  if (resource.verbs.includes('deletecollection')) await client.removeAll(resource, namespace, background);
  else for (const { metadata } of objects) await client.remove(resource, namespace, metadata.name as string, background);
  return list();
}

/** A resource may disappear between its discovery and its use. */
function emptyIfNotServed(error: unknown): KubeObject[] {
  if (isNotFound(error) || (error instanceof StatusError && error.status.reason === 'MethodNotAllowed')) return [];
  throw error;
}
