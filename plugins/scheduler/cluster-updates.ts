import type { KubeObject, SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { ResourceClaim } from 'kubenest/types/resource_v1';
import type { Cluster } from './cluster.ts';
import { isFinished, isRelevantPodChange, nodeChanges } from './cluster-events.ts';
import { isClaimChangeRelevant } from './filters/dynamic-resources.ts';
import type { ClusterEvent } from './framework/framework.ts';
import { podInfo } from './framework/pod-info.ts';
import { needsNoNode } from './pod-binder.ts';
import { groupOf, type PodGroups } from './pod-groups.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { SchedulerCaches } from './scheduler-caches.ts';

/** Keeps the cluster and the queue up to date with the objects of the API. Upstream: pkg/scheduler/eventhandlers.go. */
export class ClusterUpdates {
  constructor(
    private readonly caches: SchedulerCaches,
    private readonly cluster: Cluster,
    private readonly queue: SchedulingQueue,
    private readonly groups: PodGroups | undefined,
    /** Returns true if a profile of the scheduler has the pod's scheduler name. */
    private readonly isResponsible: (pod: Pod) => boolean,
  ) {}

  /** Subscribes to the objects. Nodes come first, so that no pod fails because they are not known yet. */
  follow(subscriptions: DisposableStack): void {
    const { queue } = this;
    subscriptions.use(
      this.caches.nodes.handle({
        added: (node) => {
          this.cluster.setNode(node);
          queue.happened('NodeAdded');
        },
        updated: (node, old) => {
          const events = nodeChanges(node, old);
          if (events.length > 0) this.cluster.setNode(node);
          for (const event of events) queue.happened(event);
        },
        deleted: ({ metadata }) => this.cluster.deleteNode(metadata.name ?? ''),
      }),
    );
    subscriptions.use(
      this.caches.pods.handle({
        added: (pod) => this.#podChanged(pod, undefined),
        updated: (pod, old) => this.#podChanged(pod, old),
        deleted: (pod) => this.#podDeleted(pod),
      }),
    );
    const groupChanged = (group: string): void => queue.happened('PodGroupChanged', ({ pod }) => groupOf(pod) === group);
    if (this.groups) subscriptions.use(this.groups.follow(groupChanged));
    const { claims, volumes, storageClasses, csiNodes, volumeAttachments, resourceSlices, deviceClasses, deviceTaintRules } = this.caches;
    const report = <T extends KubeObject>(informer: SharedInformer<T>, event: ClusterEvent): void => {
      const changed = (): void => queue.happened(event);
      subscriptions.use(informer.handle({ added: changed, updated: changed }));
    };
    for (const informer of [claims, volumes, storageClasses] as SharedInformer[]) report(informer, 'StorageChanged');
    report(csiNodes, 'VolumeLimitsChanged');
    for (const informer of [resourceSlices, deviceClasses] as SharedInformer[]) report(informer, 'DevicesChanged');
    if (deviceTaintRules) {
      report(deviceTaintRules, 'DevicesChanged');
      subscriptions.use(deviceTaintRules.handle({ deleted: () => queue.happened('DevicesChanged') }));
    }
    subscriptions.use(volumeAttachments.handle({ deleted: () => queue.happened('VolumeLimitsChanged') }));
    subscriptions.use(
      this.caches.resourceClaims.handle({
        added: (claim) => this.#claimChanged(claim, undefined),
        updated: (claim, old) => this.#claimChanged(claim, old),
        deleted: (claim) => {
          this.cluster.resourceClaims.deleted(claim);
          if (claim.status?.allocation) queue.happened('ResourceClaimChanged');
        },
      }),
    );
  }

  #claimChanged(claim: ResourceClaim, old: ResourceClaim | undefined): void {
    this.cluster.resourceClaims.changed(claim);
    this.queue.happened('ResourceClaimChanged', (pod) => isClaimChangeRelevant(pod, claim, old));
  }

  #podChanged(pod: Pod, old: Pod | undefined): void {
    if (pod.spec?.nodeName) return this.#assignedPodChanged(pod, old);
    if (!this.isResponsible(pod)) return;
    if (needsNoNode(pod)) return this.#podDeleted(pod);
    const info = podInfo(pod);
    const nominated = pod.status?.nominatedNodeName;
    if (nominated) this.cluster.nominate(info, nominated);
    else this.cluster.withdraw(info.uid);
    this.queue.add(info);
    const group = this.groups && !old && groupOf(pod);
    if (group) this.queue.happened('PodGroupChanged', (other) => groupOf(other.pod) === group);
  }

  #assignedPodChanged(pod: Pod, old: Pod | undefined): void {
    if (old && !isRelevantPodChange(pod, old)) return;
    const uid = pod.metadata.uid ?? '';
    this.queue.delete(uid);
    this.cluster.setPod(pod);
    let event: ClusterEvent = 'PodChanged';
    if (isFinished(pod)) event = 'PodDeleted';
    else if (!old?.spec?.nodeName) event = 'PodAdded';
    this.cluster.withdraw(uid);
    this.queue.happened(event);
  }

  #podDeleted(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    this.queue.delete(uid);
    this.cluster.withdraw(uid);
    this.cluster.deletePod(uid);
    this.queue.happened('PodDeleted');
  }
}
