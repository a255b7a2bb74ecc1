import {
  type AdmissionMatch,
  type Attributes,
  changedPodTemplate,
  type Client,
  type Informers,
  deepEqual,
  type KubeObject,
  type PodTemplate,
  podTemplateOf,
} from 'kubenest/sdk';
import { StoredObjects } from '../../common/stored-objects.ts';

const resources = ['deployments', 'statefulsets'];

/** Requests that create or change objects that keep replicas of a pod running, also by their subresource `scale`. */
export const replicated: readonly AdmissionMatch[] = [
  { groups: ['apps'], resources, subresources: ['', 'scale'], operations: ['CREATE', 'UPDATE'] },
];

/** Returns the stored workloads, for `replicatedTemplate`. */
export function storedWorkloads(informers: Informers, client: Client): StoredObjects {
  return new StoredObjects(
    informers,
    client,
    resources.map((resource) => ({ group: 'apps', version: 'v1', resource })),
  );
}

/** Returns the replicas of a workload or of a Scale; 0 for no object. */
export function replicasOf(object: KubeObject | undefined): number {
  if (!object) return 0;
  // A Scale omits zero replicas; the workloads themselves have a default of 1.
  return (object['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? (object.kind === 'Scale' ? 0 : 1);
}

/**
 * Returns the pod template that a request lets run in several replicas. Resolves to undefined if there are fewer than two, or if the
 * request neither changes the template nor adds replicas: workloads that are older than a rule can still be labelled and scaled down. The
 * object of the subresource `scale` has no template, so that of the stored workload is read.
 */
export async function replicatedTemplate(request: Attributes, stored: StoredObjects): Promise<PodTemplate | undefined> {
  if (replicasOf(request.object) < 2) return undefined;
  const isScaledUp = replicasOf(request.object) > replicasOf(request.oldObject);
  if (request.subresource === 'scale') {
    if (!isScaledUp) return undefined;
    const { resource, namespace, name } = request;
    return podTemplateOf(await stored.get(resource, namespace, name));
  }
  const template = podTemplateOf(request.object);
  const hasOtherLabels = !deepEqual(template?.metadata.labels, podTemplateOf(request.oldObject)?.metadata.labels);
  return isScaledUp || hasOtherLabels ? template : changedPodTemplate(request);
}
