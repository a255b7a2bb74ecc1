import { type ClusterView, maxNodeScore, type Score } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import {
  countMatching,
  countsFor,
  hasAllKeys,
  hasOwnConstraints,
  hostnameLabel,
  type SpreadConstraint,
  spreadConstraints,
  systemDefaultConstraints,
} from '../framework/spread-constraint.ts';

/** A constraint with the matching pods of each domain; those of a node are counted when it is scored. */
interface Counted {
  readonly constraint: SpreadConstraint;
  readonly counts: ReadonlyMap<string, number>;
  /** Weight of the constraint, which grows with the number of domains. */
  readonly weight: number;
}

interface State {
  readonly constraints: readonly Counted[];
  /** Nodes without the labels of all constraints, which get no score. */
  readonly ignored: ReadonlySet<string>;
  readonly namespace: string;
}

/**
 * Returns the score that prefers domains with few matching pods: by the constraints of the pod with ScheduleAnyway, or, if it has no
 * constraints at all, by the default ones. Upstream: plugins/podtopologyspread/scoring.go.
 */
export const podTopologySpreadScore = (defaults = systemDefaultConstraints): Score<State> => ({
  name: 'PodTopologySpread',
  weight: 2,

  prepare(pod, cluster, nodes) {
    const requiresAllKeys = hasOwnConstraints(pod.pod) || !defaults.isSystem;
    const constraints = spreadConstraints(pod, cluster, 'ScheduleAnyway', defaults);
    if (constraints.length === 0) return undefined;
    const ignored = new Set(requiresAllKeys ? nodes.filter((node) => !hasAllKeys(node, constraints)).map(({ name }) => name) : []);
    const scored = nodes.filter(({ name }) => !ignored.has(name));
    const counted = constraints.map((constraint) => countDomains(constraint, constraints, pod, cluster, scored, requiresAllKeys));
    return { constraints: counted, ignored, namespace: pod.namespace };
  },

  score({ constraints, ignored, namespace }, _, node) {
    if (ignored.has(node.name)) return 0;
    let sum = 0;
    for (const { constraint, counts, weight } of constraints) {
      const { topologyKey, selector, maxSkew } = constraint;
      if (!Object.hasOwn(node.labels, topologyKey)) continue;
      const isHost = topologyKey === hostnameLabel;
      const count = isHost ? countMatching(node, selector, namespace) : (counts.get(node.labels[topologyKey] as string) ?? 0);
      sum += count * weight + (maxSkew - 1);
    }
    return Math.round(sum);
  },

  normalize({ ignored }, scores, nodes) {
    const counted = scores.filter((_, i) => !ignored.has((nodes[i] as NodeInfo).name));
    const min = Math.min(...counted);
    const max = Math.max(0, ...counted);
    for (const [i, score] of scores.entries()) {
      if (ignored.has((nodes[i] as NodeInfo).name)) scores[i] = 0;
      else scores[i] = max === 0 ? maxNodeScore : Math.trunc((maxNodeScore * (max + min - score)) / max);
    }
  },
});

function countDomains(
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  pod: PodInfo,
  cluster: ClusterView,
  scored: readonly NodeInfo[],
  requiresAllKeys: boolean,
): Counted {
  const { topologyKey, selector } = constraint;
  // Domains are by host as many as there are nodes.
  if (topologyKey === hostnameLabel) return { constraint, counts: new Map(), weight: Math.log(scored.length + 2) };
  const counts = new Map(scored.map(({ labels }) => [labels[topologyKey] ?? '', 0]));
  for (const node of cluster.nodes) {
    if ((requiresAllKeys && !hasAllKeys(node, all)) || !countsFor(constraint, pod, node)) continue;
    const value = node.labels[topologyKey] ?? '';
    const before = counts.get(value);
    if (before !== undefined) counts.set(value, before + countMatching(node, selector, pod.namespace));
  }
  return { constraint, counts, weight: Math.log(counts.size + 2) };
}
