import { type ControllerClient, deepCopy, type EventRecorder, isNotFound, type KubeObject, type OwnerReference } from 'kubenest/sdk';
import type { Pod, PodTemplateSpec } from 'kubenest/types/core_v1';
import { isNamespaceTerminating } from './namespace-terminating.ts';
import { pods } from './pods.ts';

/** Returns a pod of a template. Upstream: GetPodFromTemplate of pkg/controller/controller_utils.go. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubeObject, reference: OwnerReference): Pod {
  const { metadata = {}, spec = {} } = deepCopy(template);
  const { labels, annotations, finalizers } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: podNamePrefix(owner.metadata.name as string),
      namespace: owner.metadata.namespace as string,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [reference],
    },
    spec,
  };
}

/** The dash is left out where the name of a pod could not have it. Upstream: getPodsPrefix. */
function podNamePrefix(owner: string): string {
  return owner.length < 253 ? `${owner}-` : owner;
}

/** Creates and deletes pods and reports that in events of their owner. Upstream: RealPodControl of pkg/controller/controller_utils.go. */
export class PodControl {
  constructor(
    readonly client: ControllerClient,
    readonly recorder: EventRecorder,
  ) {}

  async create(owner: KubeObject, pod: Pod): Promise<Pod> {
    if (Object.keys(pod.metadata.labels ?? {}).length === 0) throw new Error('unable to create pods, no labels');
    try {
      const created = await this.client.create<Pod>(pods, pod);
      this.recorder.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
      return created;
    } catch (error) {
      if (!isNamespaceTerminating(error))
        this.recorder.event(owner, 'Warning', 'FailedCreate', `Error creating: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Returns false if the pod does not exist. */
  async delete(owner: KubeObject, { metadata: { namespace = '', name = '' } }: Pod): Promise<boolean> {
    try {
      const isDeleted = await this.client.remove(pods, namespace, name);
      if (isDeleted) this.recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      return isDeleted;
    } catch (error) {
      if (isNotFound(error)) return false;
      const { message } = error as Error;
      this.recorder.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${message}`);
      throw new Error(`unable to delete pods: ${message}`, { cause: error });
    }
  }
}
