import type { Node, Pod } from 'kubenest/types/core_v1';
import { isPodTerminal } from '../common/pods.ts';

type NodeOf = (pod: Pod) => Node | undefined;

const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';

/** Evicted pods first, then older ones, then by name. */
function byEvictionAndAge(a: Pod, b: Pod): number {
  const [created, otherCreated] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1;
  if (created !== otherCreated) return created < otherCreated ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** Ended pods beyond the number that is kept. */
export function surplusPods(pods: readonly Pod[], threshold: number): Pod[] {
  const ended = pods.filter(isPodTerminal);
  return ended.length > threshold ? ended.sort(byEvictionAndAge).slice(0, ended.length - threshold) : [];
}

/** Pods that are being deleted on a node that is not ready and out of service. */
export function outOfServicePods(pods: readonly Pod[], nodeOf: NodeOf): Pod[] {
  const isOut = (node: Node | undefined): boolean =>
    node !== undefined &&
    !node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') &&
    (node.spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');
  return pods.filter((pod) => pod.metadata.deletionTimestamp && isOut(nodeOf(pod))).sort(byEvictionAndAge);
}

/** Pods on nodes that are not known. */
export function orphanedPods(pods: readonly Pod[], nodeOf: NodeOf): Pod[] {
  return pods.filter((pod) => pod.spec?.nodeName && !nodeOf(pod));
}

/** Pods that are being deleted and have no node. */
export function unscheduledTerminatingPods(pods: readonly Pod[]): Pod[] {
  return pods.filter(({ metadata, spec }) => metadata.deletionTimestamp && !spec?.nodeName);
}
