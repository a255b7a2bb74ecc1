import {
  type Clock,
  type ControllerClient,
  formatTime,
  isNotFound,
  type Logger,
  type SharedInformer,
  type SharedInformers,
} from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { PodGroup } from 'kubenest/types/scheduling_v1alpha2';
import type { ClusterEvent } from './framework/framework.ts';
import type { PodInfo } from './framework/pod-info.ts';

const resource = { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'podgroups' } as const;
const byGroup = 'podGroup';

/** Name of upstream's plugin that keeps the pods of an incomplete gang out of the queue. */
export const gangScheduling = { name: 'GangScheduling', events: ['PodGroupChanged'] as readonly ClusterEvent[] };

const unschedulable = 'pod group is unschedulable';

/** Message for a pod that has a place, while its gang has not enough places. Upstream: submitPodGroupAlgorithmResult. */
export const waitingForGang = `${unschedulable}, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod`;

/** Message for a pod that has a place, while other pods of its gang wait for the end of their victims. */
export const waitingForPreemption = `${unschedulable}, pod group is waiting for preemption to complete`;

/** Returns the group of a pod as namespace and name; undefined if it has none. */
export function groupOf({ metadata, spec }: Pod): string | undefined {
  const name = spec?.schedulingGroup?.podGroupName;
  return name ? `${metadata.namespace}/${name}` : undefined;
}

/**
 * Groups of pods that are scheduled together. A gang gets nodes for at least `minCount` pods at once, or none. Upstream:
 * plugins/gangscheduling, pkg/scheduler/schedule_one_podgroup.go.
 */
export class PodGroups {
  readonly #groups: SharedInformer<PodGroup>;

  constructor(
    informers: SharedInformers,
    private readonly pods: SharedInformer<Pod>,
    private readonly client: ControllerClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.#groups = informers.for<PodGroup>(resource);
    pods.addIndex(byGroup, (pod) => [groupOf(pod) ?? []].flat());
  }

  get synced(): Promise<unknown> {
    return this.#groups.synced;
  }

  /** Calls back with the key of each new group. */
  follow(added: (group: string) => void): Disposable {
    return this.#groups.handle({ added: ({ metadata }) => added(`${metadata.namespace}/${metadata.name}`) });
  }

  /** True if the pod has to wait for its group, or for the other pods of its gang. */
  isIncomplete({ pod }: PodInfo): boolean {
    const key = groupOf(pod);
    if (key === undefined) return false;
    const group = this.#get(key);
    return !group || this.pods.byIndex(byGroup, key).length < minCountOf(group);
  }

  /** True if the gang has enough pods with a node. `hasNode` knows the pods whose binding is not written yet. */
  isQuorate(key: string, hasNode: (uid: string) => boolean): boolean {
    const placed = this.pods.byIndex(byGroup, key).filter(({ metadata, spec }) => spec?.nodeName || hasNode(metadata.uid ?? ''));
    const group = this.#get(key);
    return group !== undefined && placed.length >= minCountOf(group);
  }

  /** Writes the condition PodGroupScheduled. */
  async report(key: string, isScheduled: boolean): Promise<void> {
    const group = this.#get(key);
    const old = group?.status?.conditions?.find(({ type }) => type === 'PodGroupScheduled');
    const status = isScheduled ? 'True' : 'False';
    // A group that was scheduled remains so, also if further pods find no node.
    if (!group || old?.status === status || old?.status === 'True') return;
    const { namespace = '', name = '', uid, generation } = group.metadata;
    const condition = {
      type: 'PodGroupScheduled',
      status,
      reason: isScheduled ? 'Scheduled' : 'Unschedulable',
      message: isScheduled ? '' : unschedulable,
      lastTransitionTime: formatTime(this.clock.wallTime()),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      await this.client.patch({ ...resource, subresource: 'status' }, namespace, name, { type: 'strategic', patch });
    } catch (error) {
      if (!isNotFound(error))
        this.logger.warn({ podGroup: key, reason: (error as Error).message }, 'cannot write the status of a pod group');
    }
  }

  #get(key: string): PodGroup | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.#groups.get(namespace, name);
  }
}

const minCountOf = ({ spec }: PodGroup): number => spec?.schedulingPolicy?.gang?.minCount ?? 1;
