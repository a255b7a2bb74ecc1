import type { Node } from 'kubenest/types/core_v1';
import { hasAffinity, type Labels, type PodInfo } from './pod-info.ts';
import { type Amounts, amountsOf } from './resources.ts';

/** Pods of a node with the same namespace and labels that are not being deleted. */
export interface PodGroup {
  readonly namespace: string;
  readonly labels: Labels;
  count: number;
}

/** A node with its pods and the sums over them, which `add` and `remove` keep up to date. */
export class NodeInfo {
  readonly name: string;
  readonly labels: Labels;
  readonly allocatable: Amounts;
  readonly pods = new Map<string, PodInfo>();
  /** Pods with any term of pod affinity; a subset of `pods`. */
  readonly podsWithAffinity = new Map<string, PodInfo>();
  /** Pods that a selector counts by group, since the many pods of a controller have the same labels. */
  readonly groups = new Map<string, PodGroup>();
  readonly requested: Amounts = new Map();
  readonly nonZeroRequested: Amounts = new Map();

  constructor(readonly node: Node) {
    this.name = node.metadata.name ?? '';
    this.labels = node.metadata.labels ?? {};
    this.allocatable = amountsOf(node.status?.allocatable);
  }

  /** Returns the info of a newer version of the node with the same pods. */
  withNode(node: Node): NodeInfo {
    const next = new NodeInfo(node);
    for (const pod of this.pods.values()) next.add(pod);
    return next;
  }

  clone(): NodeInfo {
    return this.withNode(this.node);
  }

  add(pod: PodInfo): void {
    this.remove(pod.uid);
    this.pods.set(pod.uid, pod);
    if (hasAffinity(pod)) this.podsWithAffinity.set(pod.uid, pod);
    this.#group(pod, 1);
    sum(this.requested, pod.requests, 1);
    sum(this.nonZeroRequested, pod.nonZero, 1);
  }

  remove(uid: string): void {
    const pod = this.pods.get(uid);
    if (!pod) return;
    this.pods.delete(uid);
    this.podsWithAffinity.delete(uid);
    this.#group(pod, -1);
    sum(this.requested, pod.requests, -1);
    sum(this.nonZeroRequested, pod.nonZero, -1);
  }

  #group({ pod, groupKey, namespace, labels }: PodInfo, by: 1 | -1): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const group = this.groups.get(groupKey) ?? { namespace, labels, count: 0 };
    group.count += by;
    if (group.count === 0) this.groups.delete(groupKey);
    else this.groups.set(groupKey, group);
  }
}

function sum(total: Amounts, amounts: ReadonlyMap<string, number>, sign: 1 | -1): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + sign * amount);
}
