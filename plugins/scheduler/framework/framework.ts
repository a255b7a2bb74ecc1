import type { PersistentVolume, PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { DeviceClass, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { CSINode, StorageClass, VolumeAttachment } from 'kubenest/types/storage_v1';
import type { ResourceClaims } from '../devices/resource-claims.ts';
import type { NodeInfo } from './node-info.ts';
import type { Labels, PodInfo, Selector } from './pod-info.ts';

/** The cluster as filters and scores see it during one scheduling cycle. */
export interface ClusterView {
  readonly nodes: readonly NodeInfo[];
  /** Nodes that have a pod with pod affinity. */
  nodesWithAffinity(): Iterable<NodeInfo>;
  namespaceLabels(namespace: string): Labels;
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  csiNode(name: string): CSINode | undefined;
  volumeAttachments(node: string): readonly VolumeAttachment[];
  readonly resourceClaims: ResourceClaims;
  resourceSlices(): readonly ResourceSlice[];
  deviceClass(name: string): DeviceClass | undefined;
  /** Returns the class that backs an extended resource. */
  classOfResource(resource: string): DeviceClass | undefined;
  /** Returns the claim that was created for the extended resources of the pod. */
  extendedClaim(pod: Pod): ResourceClaim | undefined;
  /** Time of day in milliseconds. */
  now(): number;
  /** True if a pod of the node other than `exceptUid` uses the claim. */
  isClaimInUse(namespace: string, claim: string, exceptUid: string): boolean;
  /** Selector of the services and controllers that select the pod; undefined if none does. */
  defaultSelector(pod: PodInfo): Selector | undefined;
}

/** Reason for which a node cannot take a pod. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** True if the removal of other pods would not help. */
  readonly isUnresolvable: boolean;
}

export const unschedulable = (...reasons: string[]): Rejection => ({ reasons, isUnresolvable: false });
export const unresolvable = (...reasons: string[]): Rejection => ({ reasons, isUnresolvable: true });

/** A failure of the attempt as a whole, such as an invalid expression. The pod is tried again after its back-off. */
export class SchedulingError extends Error {}

/** Result of the preparation of a filter. */
export type Prepared<S> =
  /** State for `check`; `nodes` are the only ones that can take the pod, if it is set. */
  | { readonly state: S; readonly nodes?: ReadonlySet<string> }
  /** The filter has nothing to check for the pod. */
  | 'skip'
  /** No node can take the pod. */
  | { readonly rejection: Rejection };

/** Changes of the cluster that may make a pod schedulable. */
export type ClusterEvent =
  | 'NodeAdded'
  | 'NodeAllocatableChanged'
  | 'NodeLabelsChanged'
  | 'NodeTaintsChanged'
  | 'PodAdded'
  | 'PodChanged'
  | 'PodDeleted'
  | 'StorageChanged'
  | 'VolumeLimitsChanged'
  | 'ResourceClaimChanged'
  | 'DevicesChanged'
  | 'PodGroupChanged';

/** Decides which nodes can take a pod. A pure function of the cluster view; one file each. */
export interface Filter<S = unknown> {
  readonly name: string;
  /** Changes after which a pod that this filter rejected is tried again. */
  readonly events: readonly ClusterEvent[];
  /** Returns why the pod is kept out of the queue; undefined if it may be scheduled. */
  gate?(pod: PodInfo, cluster: ClusterView): string | undefined;
  /** Runs once for each pod before the nodes are checked. */
  prepare(pod: PodInfo, cluster: ClusterView): Prepared<S>;
  /** Throws SchedulingError if no node can be checked. */
  check(state: S, pod: PodInfo, node: NodeInfo): Rejection | undefined;
  /** Updates the state in place for a pod that is assumed to be added to the node, or (-1) removed from it. */
  change?(state: S, pod: PodInfo, other: PodInfo, node: NodeInfo, sign: 1 | -1): void;
  /** Copies a state that `change` modifies. */
  copy?(state: S): S;
  /** Counts what the pod needs on the chosen node as taken. */
  reserve?(state: S, node: string, cluster: ClusterView): void;
  /** Reverts `reserve` after the binding failed. */
  unreserve?(state: S, cluster: ClusterView): void;
}

export const maxNodeScore = 100;

/** Ranks the nodes that can take a pod; higher is better. One file each. */
export interface Score<S = unknown> {
  readonly name: string;
  readonly weight: number;
  /** Runs once for each pod; undefined if all nodes are equal. `nodes` passed the filters; `stateOf` returns the state of a filter. */
  prepare(pod: PodInfo, cluster: ClusterView, nodes: readonly NodeInfo[], stateOf: (filter: string) => unknown): S | undefined;
  score(state: S, pod: PodInfo, node: NodeInfo): number;
  /** Maps the scores of all nodes to 0..100 in place. Default: they are in that range already. */
  normalize?(state: S, scores: number[], nodes: readonly NodeInfo[]): void;
}

/** Scales scores so that the greatest is 100; with `reverse`, the smallest is best. Upstream: plugins/helper/normalize_score.go. */
export function defaultNormalize(scores: number[], reverse: boolean): void {
  const max = Math.max(0, ...scores);
  for (const [i, score] of scores.entries()) {
    const scaled = max === 0 ? 0 : Math.floor((maxNodeScore * score) / max);
    scores[i] = reverse ? maxNodeScore - scaled : scaled;
  }
}
