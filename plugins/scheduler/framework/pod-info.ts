import type { LabelSelector } from 'kubenest/sdk';
import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from 'kubenest/types/core_v1';
import { type HostPort, hostPortsOf } from '../../common/host-ports.ts';
import { selectorOf } from '../../common/selectors.ts';
import { type Amounts, nonZeroRequests, podRequests } from './resources.ts';

export type Selector = LabelSelector;
export type Labels = Readonly<Record<string, string>>;

/** A term of pod affinity or anti-affinity, compiled. */
export interface AffinityTerm {
  readonly topologyKey: string;
  /** True if the term applies to the pod, whose namespace has the labels. */
  matches(pod: PodInfo, namespaceLabels: Labels): boolean;
}
export interface WeightedTerm extends AffinityTerm {
  readonly weight: number;
}

/** A pod with all that the filters need of it, computed once. */
export interface PodInfo {
  readonly pod: Pod;
  /** Namespace and name. */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Labels;
  /** Equal for pods with the same namespace and labels. */
  readonly groupKey: string;
  readonly priority: number;
  readonly requests: Amounts;
  readonly nonZero: Amounts;
  readonly hostPorts: readonly HostPort[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedTerm[];
  readonly preferredAntiAffinity: readonly WeightedTerm[];
}

/** Key of an object in its namespace. */
export function keyOf({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

export function podInfo(pod: Pod): PodInfo {
  const { metadata, spec = {} } = pod;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const namespace = metadata.namespace ?? '';
  const required = (terms: PodAffinityTerm[] | undefined): AffinityTerm[] => (terms ?? []).map((term) => compileTerm(term, namespace));
  const preferred = (terms: WeightedPodAffinityTerm[] | undefined): WeightedTerm[] =>
    (terms ?? []).map(({ weight = 0, podAffinityTerm = {} }) => ({ ...compileTerm(podAffinityTerm, namespace), weight }));
  return {
    pod,
    key: keyOf(pod),
    uid: metadata.uid ?? '',
    namespace,
    labels: metadata.labels ?? {},
    groupKey: JSON.stringify([namespace, ...Object.entries(metadata.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))]),
    priority: spec.priority ?? 0,
    requests: podRequests(pod),
    nonZero: nonZeroRequests(pod),
    hostPorts: hostPortsOf(pod),
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

/** Compiles a term. Without namespaces and selector of namespaces, it applies to the pod's own. */
function compileTerm(term: PodAffinityTerm, namespace: string): AffinityTerm {
  const selector = selectorOf(term.labelSelector);
  const isOwn = !term.namespaces?.length && term.namespaceSelector === undefined;
  const namespaces = new Set(isOwn ? [namespace] : (term.namespaces ?? []));
  const ofNamespaces = term.namespaceSelector && selectorOf(term.namespaceSelector);
  return {
    topologyKey: term.topologyKey ?? '',
    matches: (other, namespaceLabels) =>
      (namespaces.has(other.namespace) || (ofNamespaces?.matches(namespaceLabels) ?? false)) && selector.matches(other.labels),
  };
}

/** True if the pod has a term of affinity to other pods. */
export function hasAffinity(pod: PodInfo): boolean {
  return (
    pod.requiredAffinity.length + pod.requiredAntiAffinity.length + pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0
  );
}
