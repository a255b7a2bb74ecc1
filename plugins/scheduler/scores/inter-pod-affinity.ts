import { maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { Labels, PodInfo, WeightedTerm } from '../framework/pod-info.ts';

/** Sum of weights by topology key and value. */
type Weights = Map<string, Map<string, number>>;

/**
 * Prefers topology domains with pods that the pod's preferred affinity matches, and those of pods whose affinity matches the pod;
 * anti-affinity counts against a domain. `hardWeight`: weight of a required affinity term of an existing pod (HardPodAffinityWeight).
 * Upstream: plugins/interpodaffinity/scoring.go.
 */
export const interPodAffinityScore = (hardWeight: number): Score<Weights> => ({
  name: 'InterPodAffinity',
  weight: 2,

  prepare(pod, cluster) {
    const weights: Weights = new Map();
    const hasOwn = pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
    const own = cluster.namespaceLabels(pod.namespace);
    for (const node of hasOwn ? cluster.nodes : cluster.nodesWithAffinity()) {
      for (const other of (hasOwn ? node.pods : node.podsWithAffinity).values()) {
        if (hasOwn) addOwnTerms(weights, pod, other, cluster.namespaceLabels(other.namespace), node);
        addTermsOf(weights, other, pod, own, node, hardWeight);
      }
    }
    return weights.size > 0 ? weights : undefined;
  },

  score(weights, _, { labels }) {
    let sum = 0;
    for (const [key, values] of weights) if (Object.hasOwn(labels, key)) sum += values.get(labels[key] as string) ?? 0;
    return sum;
  },

  normalize(_, scores) {
    const min = Math.min(...scores);
    const range = Math.max(...scores) - min;
    for (const [i, score] of scores.entries()) scores[i] = range > 0 ? Math.trunc((maxNodeScore * (score - min)) / range) : 0;
  },
});

function addOwnTerms(weights: Weights, pod: PodInfo, other: PodInfo, labels: Labels, node: NodeInfo): void {
  addTerms(weights, pod.preferredAffinity, other, labels, node, 1);
  addTerms(weights, pod.preferredAntiAffinity, other, labels, node, -1);
}

function addTermsOf(weights: Weights, other: PodInfo, pod: PodInfo, labels: Labels, node: NodeInfo, hardWeight: number): void {
  const required = other.requiredAffinity.map((term): WeightedTerm => ({ ...term, weight: hardWeight }));
  addTerms(weights, required, pod, labels, node, 1);
  addTerms(weights, other.preferredAffinity, pod, labels, node, 1);
  addTerms(weights, other.preferredAntiAffinity, pod, labels, node, -1);
}

function addTerms(weights: Weights, terms: readonly WeightedTerm[], pod: PodInfo, labels: Labels, node: NodeInfo, sign: 1 | -1): void {
  for (const { topologyKey, weight, matches } of terms) {
    const value = Object.hasOwn(node.labels, topologyKey) ? node.labels[topologyKey] : undefined;
    if (value === undefined || !matches(pod, labels)) continue;
    const values = weights.get(topologyKey) ?? new Map<string, number>();
    values.set(value, (values.get(value) ?? 0) + sign * weight);
    weights.set(topologyKey, values);
  }
}
