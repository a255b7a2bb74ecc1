import { deepCopy } from 'kubenest/sdk';
import type { DaemonSet } from 'kubenest/types/apps_v1';
import type { Affinity, Node, Pod, PodSpec, PodTemplateSpec, Toleration } from 'kubenest/types/core_v1';
import { matchesRequiredAffinity } from '../../common/node-affinity.ts';
import { untoleratedTaint } from '../../common/tolerations.ts';

export const hashLabel = 'controller-revision-hash';
const generationLabel = 'pod-template-generation';
const generationAnnotation = 'deprecated.daemonset.template.generation';

const tolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const hostNetworkToleration: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** Returns the tolerations of a daemon pod: its own, and those of nodes with problems. */
function tolerationsOf(spec: PodSpec): Toleration[] {
  let result = [...(spec.tolerations ?? [])];
  for (const added of spec.hostNetwork ? [...tolerations, hostNetworkToleration] : tolerations) {
    const isSame = ({ key, effect, operator, value }: Toleration): boolean =>
      key === added.key && effect === added.effect && operator === added.operator && !value;
    result = result.some(isSame) ? result.map((own) => (isSame(own) ? added : own)) : [...result, added];
  }
  return result;
}

/** Returns the generation of the template that the API server counts; undefined for an invalid one. */
function generationOf({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[generationAnnotation];
  return text !== undefined && /^[+-]?\d+$/.test(text) ? String(Number(text)) : undefined;
}

/** Returns the template of the pods. Upstream: CreatePodTemplate of pkg/controller/daemon/util. */
export function templateOf(daemonSet: DaemonSet, hash: string): PodTemplateSpec {
  const { metadata, spec = {} } = deepCopy(daemonSet.spec?.template ?? {});
  const generation = generationOf(daemonSet);
  const labels = { ...metadata?.labels, ...(generation !== undefined && { [generationLabel]: generation }), [hashLabel]: hash };
  return { metadata: { ...metadata, labels }, spec: { ...spec, tolerations: tolerationsOf(spec) } };
}

/** Returns the affinity with which the scheduler binds the pod to the node. */
export function affinityTo(node: string, affinity: Affinity | undefined): Affinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required } };
}

/** Returns the name of the node that a pod runs on or is meant for; undefined if it has none. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = terms
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return field?.values?.length === 1 ? field.values[0] : undefined;
}

/** True if the pod has the current template. */
export function isUpdated(daemonSet: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = generationOf(daemonSet);
  const { labels = {} } = metadata;
  return labels[hashLabel] === hash || (generation !== undefined && labels[generationLabel] === generation);
}

/** Compares pods of a node: those that are scheduled first, then the older ones. */
export function compareAge(a: Pod, b: Pod): number {
  const scheduled = Number(!a.spec?.nodeName) - Number(!b.spec?.nodeName);
  if (scheduled !== 0) return scheduled;
  const [createdA = '', createdB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return (a.metadata.name as string) < (b.metadata.name as string) ? -1 : 1;
}

export interface NodeFit {
  /** True if the node needs a pod. */
  readonly shouldRun: boolean;
  /** True if an existing pod may remain. */
  readonly mayRemain: boolean;
}

/**
 * Returns whether a pod belongs on the node. A taint NoSchedule keeps new pods away, NoExecute also the present ones. Upstream:
 * NodeShouldRunDaemonPod of pkg/controller/daemon.
 */
export function fitOf({ spec }: DaemonSet, node: Node): NodeFit {
  const template = spec?.template?.spec ?? {};
  const pod = { spec: { ...template, tolerations: tolerationsOf(template) } };
  const isElsewhere = template.nodeName && template.nodeName !== node.metadata.name;
  if (isElsewhere || !matchesRequiredAffinity(pod, node)) return { shouldRun: false, mayRemain: false };
  const tolerates = (...effects: string[]): boolean =>
    untoleratedTaint(node.spec?.taints ?? [], pod.spec.tolerations, effects) === undefined;
  return { shouldRun: tolerates('NoExecute', 'NoSchedule'), mayRemain: tolerates('NoExecute') };
}
