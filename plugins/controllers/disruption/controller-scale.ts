import {
  type ControllerClient,
  controllerOf,
  type KubeObject,
  type OwnerReference,
  servedResources,
  type SharedInformer,
  type SharedInformers,
} from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';

/** The part that workloads and scales have in common. */
interface Scaled extends KubeObject {
  spec?: { replicas?: number };
}

/** Resources of the kinds that informers know. */
const known: Readonly<Record<string, { readonly group: string; readonly resource: string }>> = {
  'apps/ReplicaSet': { group: 'apps', resource: 'replicasets' },
  'apps/Deployment': { group: 'apps', resource: 'deployments' },
  'apps/StatefulSet': { group: 'apps', resource: 'statefulsets' },
  '/ReplicationController': { group: '', resource: 'replicationcontrollers' },
};

/** Finds the controllers of pods and their numbers of replicas. Upstream: finders of pkg/controller/disruption. */
export class ControllerScales {
  readonly #informers: ReadonlyMap<string, SharedInformer<Scaled>>;

  constructor(
    readonly client: ControllerClient,
    informers: SharedInformers,
  ) {
    this.#informers = new Map(Object.entries(known).map(([kind, resource]) => [kind, informers.for<Scaled>(resource)]));
  }

  /** Returns the sum of the replicas of the pods' controllers, and the pods without one. Rejects if a controller has no scale. */
  async expected(pods: readonly Pod[]): Promise<{ readonly count: number; readonly unmanaged: readonly Pod[] }> {
    const unmanaged: Pod[] = [];
    const seen = new Set<string>();
    const scales = new Map<string, number>();
    for (const pod of pods) {
      const controller = controllerOf(pod);
      if (!controller) unmanaged.push(pod);
      if (!controller || seen.has(controller.uid)) continue;
      seen.add(controller.uid);
      const found = await this.#scaleOf(pod.metadata.namespace as string, controller);
      if (!found) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
      scales.set(found.metadata.uid as string, found.spec?.replicas ?? 1);
    }
    return { count: [...scales.values()].reduce((sum, count) => sum + count, 0), unmanaged };
  }

  async #scaleOf(namespace: string, owner: OwnerReference): Promise<Scaled | undefined> {
    const informer = this.#informers.get(kindOf(owner));
    if (!informer) return this.#scaleSubresource(namespace, owner);
    const object = informer.get(namespace, owner.name);
    if (object?.metadata.uid !== owner.uid) return undefined;
    const outer = controllerOf(object);
    const isOfDeployment = outer !== undefined && kindOf(outer) === 'apps/Deployment';
    return isOfDeployment ? this.#informers.get('apps/Deployment')?.get(namespace, outer.name) : object;
  }

  /** Returns the scale of a custom resource. */
  async #scaleSubresource(namespace: string, owner: OwnerReference): Promise<Scaled | undefined> {
    const { resources } = await servedResources(this.client);
    const served = resources.find(({ group, kind }) => `${group}/${kind}` === kindOf(owner));
    if (!served) return undefined;
    const scale = await this.client.get<Scaled>({ ...served, subresource: 'scale' }, namespace, owner.name);
    if (!scale) throw new Error(`${served.resource}.${served.group} does not implement the scale subresource`);
    return scale.metadata.uid === owner.uid ? scale : undefined;
  }
}

function kindOf({ apiVersion, kind }: OwnerReference): string {
  return `${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}/${kind}`;
}
