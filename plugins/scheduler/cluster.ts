import { labelSelectorAsSelector, type LabelSelectorSource } from 'kubenest/sdk';
import type { ReplicaSet, StatefulSet } from 'kubenest/types/apps_v1';
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, ReplicationController, Service } from 'kubenest/types/core_v1';
import type { DeviceClass, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import type { CSINode, StorageClass, VolumeAttachment } from 'kubenest/types/storage_v1';
import { classOfResource, extendedClaimOf } from './devices/extended-resources.ts';
import { ResourceClaims } from './devices/resource-claims.ts';
import { TaintedSlices } from './devices/tainted-slices.ts';
import type { ClusterView } from './framework/framework.ts';
import { NodeInfo } from './framework/node-info.ts';
import { type Labels, podInfo, type PodInfo, type Selector } from './framework/pod-info.ts';
import { claimNames } from '../common/pod-claims.ts';
import { selectorOf, selects } from '../common/selectors.ts';
import type { Nominations } from './scheduling-cycle.ts';

/** Reads of one kind from a cache; a part of the SDK's Informer. */
export interface Lister<T> {
  get(namespace: string, name: string): T | undefined;
  list(namespace?: string): T[];
}

/** The caches that the filters and scores read. */
export interface Listers {
  readonly namespaces: Lister<Namespace>;
  readonly claims: Lister<PersistentVolumeClaim>;
  readonly volumes: Lister<PersistentVolume>;
  readonly storageClasses: Lister<StorageClass>;
  readonly services: Lister<Service>;
  readonly replicationControllers: Lister<ReplicationController>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly statefulSets: Lister<StatefulSet>;
  readonly csiNodes: Lister<CSINode>;
  readonly volumeAttachments: Lister<VolumeAttachment>;
  readonly resourceClaims: Lister<ResourceClaim>;
  readonly resourceSlices: Lister<ResourceSlice>;
  readonly deviceClasses: Lister<DeviceClass>;
  /** Undefined without the feature. */
  readonly deviceTaintRules?: Lister<DeviceTaintRule> | undefined;
}

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const noLabels: Labels = {};

/**
 * Nodes with their pods, kept up to date by events, so that a scheduling cycle needs no copy of the cluster. A pod that was given a
 * node counts there at once (assumed), until the event of its binding arrives or the binding fails.
 */
export class Cluster implements ClusterView, Nominations {
  readonly #nodes = new Map<string, NodeInfo>();
  /** Pods of nodes that are not known (yet). */
  readonly #orphans = new Map<string, Map<string, PodInfo>>();
  /** Node of each counted pod by UID. */
  readonly #placed = new Map<string, string>();
  /** Node and pod of each nomination by UID. */
  readonly #nominated = new Map<string, { readonly node: string; readonly pod: PodInfo }>();
  #list: readonly NodeInfo[] | undefined;

  readonly resourceClaims: ResourceClaims;
  readonly #taintedSlices = new TaintedSlices();

  constructor(
    private readonly listers: Listers,
    readonly now: () => number,
  ) {
    this.resourceClaims = new ResourceClaims(listers.resourceClaims);
  }

  get nodes(): readonly NodeInfo[] {
    this.#list ??= [...this.#nodes.values()];
    return this.#list;
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    const before = this.#nodes.get(name);
    const info = before ? before.withNode(node) : new NodeInfo(node);
    for (const pod of this.#orphans.get(name)?.values() ?? []) info.add(pod);
    this.#orphans.delete(name);
    this.#nodes.set(name, info);
    this.#list = undefined;
  }

  deleteNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info) return;
    if (info.pods.size > 0) this.#orphans.set(name, new Map(info.pods));
    this.#nodes.delete(name);
    this.#list = undefined;
  }

  /** Counts a pod on its node, or no longer if it has finished. */
  setPod(pod: Pod): void {
    const name = pod.spec?.nodeName;
    if (!name || isFinished(pod)) this.deletePod(pod.metadata.uid ?? '');
    else this.#place(podInfo(pod), name);
  }

  /** Counts a pod on the node that was chosen for it. */
  assume(pod: PodInfo, node: string): void {
    this.#place(pod, node);
  }

  deletePod(uid: string): void {
    const name = this.#placed.get(uid);
    if (name === undefined) return;
    this.#placed.delete(uid);
    this.#nodes.get(name)?.remove(uid);
    this.#orphans.get(name)?.delete(uid);
  }

  /** True if the pod counts on a node. */
  isPlaced(uid: string): boolean {
    return this.#placed.has(uid);
  }

  #place(pod: PodInfo, name: string): void {
    const before = this.#placed.get(pod.uid);
    if (before !== undefined && before !== name) this.deletePod(pod.uid);
    this.#placed.set(pod.uid, name);
    const node = this.#nodes.get(name);
    if (node) return node.add(pod);
    const orphans = this.#orphans.get(name) ?? new Map<string, PodInfo>();
    this.#orphans.set(name, orphans.set(pod.uid, pod));
  }

  /** Nominates a pod for a node, where room is kept for it. */
  nominate(pod: PodInfo, node: string): void {
    this.#nominated.set(pod.uid, { node, pod });
  }

  /** Withdraws the nomination of a pod. */
  withdraw(uid: string): void {
    this.#nominated.delete(uid);
  }

  of(node: string, pod: PodInfo): readonly PodInfo[] {
    if (this.#nominated.size === 0) return [];
    return [...this.#nominated.values()]
      .filter((one) => one.node === node && one.pod.uid !== pod.uid && one.pod.priority >= pod.priority && !this.isPlaced(one.pod.uid))
      .map((one) => one.pod);
  }

  *nodesWithAffinity(): Iterable<NodeInfo> {
    for (const node of this.nodes) if (node.podsWithAffinity.size > 0) yield node;
  }

  namespaceLabels(namespace: string): Labels {
    return this.listers.namespaces.get('', namespace)?.metadata.labels ?? noLabels;
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    return this.listers.claims.get(namespace, name);
  }

  volume(name: string): PersistentVolume | undefined {
    return name === '' ? undefined : this.listers.volumes.get('', name);
  }

  volumes(): readonly PersistentVolume[] {
    return this.listers.volumes.list();
  }

  storageClass(name: string): StorageClass | undefined {
    return this.listers.storageClasses.get('', name);
  }

  csiNode(name: string): CSINode | undefined {
    return this.listers.csiNodes.get('', name);
  }

  volumeAttachments(node: string): readonly VolumeAttachment[] {
    return this.listers.volumeAttachments.list().filter(({ spec }) => spec?.nodeName === node);
  }

  resourceSlices(): readonly ResourceSlice[] {
    const slices = this.listers.resourceSlices.list();
    const rules = this.listers.deviceTaintRules?.list() ?? [];
    return rules.length === 0 ? slices : this.#taintedSlices.of(slices, rules);
  }

  deviceClass(name: string): DeviceClass | undefined {
    return this.listers.deviceClasses.get('', name);
  }

  classOfResource(resource: string): DeviceClass | undefined {
    return classOfResource(resource, this.listers.deviceClasses);
  }

  extendedClaim(pod: Pod): ResourceClaim | undefined {
    return extendedClaimOf(pod, this.listers.resourceClaims.list(pod.metadata.namespace));
  }

  isClaimInUse(namespace: string, claim: string, exceptUid: string): boolean {
    return this.nodes.some(({ pods }) =>
      [...pods.values()].some((one) => one.uid !== exceptUid && one.namespace === namespace && claimNames(one.pod).includes(claim)),
    );
  }

  /** Upstream: plugins/helper/spread.go (DefaultSelector). */
  defaultSelector(pod: PodInfo): Selector | undefined {
    const { services, replicationControllers, replicaSets, statefulSets } = this.listers;
    const labels: Record<string, string> = {};
    for (const service of services.list(pod.namespace)) if (selects(service, pod.labels)) Object.assign(labels, service.spec?.selector);
    const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller);
    let source: LabelSelectorSource = { matchLabels: labels };
    if (owner?.kind === 'ReplicationController')
      source = { matchLabels: { ...labels, ...replicationControllers.get(pod.namespace, owner.name)?.spec?.selector } };
    const owned = owner?.kind === 'ReplicaSet' ? replicaSets : owner?.kind === 'StatefulSet' ? statefulSets : undefined;
    const selector = owner && owned?.get(pod.namespace, owner.name)?.spec?.selector;
    if (selector && Object.keys(labels).length === 0) return nonEmpty(selectorOf(selector));
    if (selector) source = { ...(selector as LabelSelectorSource), matchLabels: { ...labels, ...selector.matchLabels } };
    return nonEmpty(labelSelectorAsSelector(source));
  }
}

function nonEmpty(selector: Selector): Selector | undefined {
  return selector.isEmpty() ? undefined : selector;
}
