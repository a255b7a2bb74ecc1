import { type ClusterView, type Filter, unresolvable, unschedulable } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { AffinityTerm, Labels, PodInfo } from '../framework/pod-info.ts';

/** Number of pods by topology key and value, joined by a NUL. */
type Counts = Map<string, number>;

interface State {
  readonly namespaceLabels: Labels;
  /** Pods that match a required anti-affinity term which an existing pod has against this one. */
  readonly existingAnti: Counts;
  /** Pods that match all required affinity terms of this pod, by each of the terms' topologies. */
  readonly affinity: Counts;
  /** Pods that match a required anti-affinity term of this pod. */
  readonly anti: Counts;
  readonly labelsOf: (namespace: string) => Labels;
}

/**
 * Rejects nodes in a topology domain that the required affinity and anti-affinity of the pod, or the anti-affinity of existing
 * pods, exclude. Upstream: plugins/interpodaffinity/filtering.go.
 */
export const interPodAffinity: Filter<State> = {
  name: 'InterPodAffinity',
  events: ['NodeAdded', 'NodeLabelsChanged', 'PodAdded', 'PodChanged', 'PodDeleted'],

  prepare(pod, cluster) {
    const state = emptyState(pod, cluster);
    for (const node of cluster.nodesWithAffinity())
      for (const other of node.podsWithAffinity.values()) addExisting(state, pod, other, node, 1);
    const hasOwn = pod.requiredAffinity.length + pod.requiredAntiAffinity.length > 0;
    if (hasOwn) for (const node of cluster.nodes) for (const other of node.pods.values()) addOwn(state, pod, other, node, 1);
    return hasOwn || state.existingAnti.size > 0 ? { state } : 'skip';
  },

  check(state, pod, node) {
    if (!satisfiesAffinity(state, pod, node)) return unresolvable("node(s) didn't match pod affinity rules");
    if (pod.requiredAntiAffinity.some(({ topologyKey }) => count(state.anti, topologyKey, node) > 0))
      return unschedulable("node(s) didn't match pod anti-affinity rules");
    if (state.existingAnti.size > 0 && Object.keys(node.labels).some((key) => count(state.existingAnti, key, node) > 0))
      return unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
    return undefined;
  },

  change(state, pod, other, node, sign) {
    addExisting(state, pod, other, node, sign);
    addOwn(state, pod, other, node, sign);
  },

  copy: (state) => ({
    ...state,
    existingAnti: new Map(state.existingAnti),
    affinity: new Map(state.affinity),
    anti: new Map(state.anti),
  }),
};

function emptyState(pod: PodInfo, cluster: ClusterView): State {
  return {
    namespaceLabels: cluster.namespaceLabels(pod.namespace),
    existingAnti: new Map(),
    affinity: new Map(),
    anti: new Map(),
    labelsOf: (namespace) => cluster.namespaceLabels(namespace),
  };
}

function addTo(counts: Counts, { topologyKey }: AffinityTerm, node: NodeInfo, by: number): void {
  if (!Object.hasOwn(node.labels, topologyKey)) return;
  const key = `${topologyKey}\0${node.labels[topologyKey]}`;
  const next = (counts.get(key) ?? 0) + by;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}

function count(counts: Counts, topologyKey: string, node: NodeInfo): number {
  return Object.hasOwn(node.labels, topologyKey) ? (counts.get(`${topologyKey}\0${node.labels[topologyKey]}`) ?? 0) : 0;
}

function addExisting(state: State, pod: PodInfo, other: PodInfo, node: NodeInfo, by: number): void {
  for (const term of other.requiredAntiAffinity) if (term.matches(pod, state.namespaceLabels)) addTo(state.existingAnti, term, node, by);
}

function addOwn(state: State, pod: PodInfo, other: PodInfo, node: NodeInfo, by: number): void {
  const labels = state.labelsOf(other.namespace);
  if (pod.requiredAffinity.length > 0 && pod.requiredAffinity.every((term) => term.matches(other, labels)))
    for (const term of pod.requiredAffinity) addTo(state.affinity, term, node, by);
  for (const term of pod.requiredAntiAffinity) if (term.matches(other, labels)) addTo(state.anti, term, node, by);
}

/** True if the domain has a matching pod for each term, or if the pod is the first of a group whose terms it matches itself. */
function satisfiesAffinity(state: State, pod: PodInfo, node: NodeInfo): boolean {
  if (pod.requiredAffinity.length === 0) return true;
  if (!pod.requiredAffinity.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey))) return false;
  if (pod.requiredAffinity.every(({ topologyKey }) => count(state.affinity, topologyKey, node) > 0)) return true;
  return state.affinity.size === 0 && pod.requiredAffinity.every((term) => term.matches(pod, state.namespaceLabels));
}
