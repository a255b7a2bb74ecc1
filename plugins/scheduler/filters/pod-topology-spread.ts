import { type Filter, unresolvable, unschedulable } from '../framework/framework.ts';
import {
  countMatching,
  countsFor,
  hasAllKeys,
  matches,
  type SpreadConstraint,
  spreadConstraints,
  systemDefaultConstraints,
} from '../framework/spread-constraint.ts';

const reason = "node(s) didn't match pod topology spread constraints";

/** A constraint with the matching pods of each value of its topology key. */
interface Counted {
  readonly constraint: SpreadConstraint;
  readonly counts: Map<string, number>;
}

/**
 * Returns the filter that rejects nodes whose domain would have more than `maxSkew` matching pods more than the smallest domain. Upstream:
 * plugins/podtopologyspread/filtering.go.
 */
export const podTopologySpread = (defaults = systemDefaultConstraints): Filter<readonly Counted[]> => ({
  name: 'PodTopologySpread',
  events: ['NodeAdded', 'NodeLabelsChanged', 'NodeTaintsChanged', 'PodAdded', 'PodChanged', 'PodDeleted'],

  prepare(pod, cluster) {
    const { nodes } = cluster;
    const constraints = spreadConstraints(pod, cluster, 'DoNotSchedule', defaults);
    if (constraints.length === 0) return 'skip';
    const state = constraints.map((constraint): Counted => ({ constraint, counts: new Map() }));
    for (const node of nodes) {
      if (!hasAllKeys(node, constraints)) continue;
      for (const { constraint, counts } of state) {
        if (!countsFor(constraint, pod, node)) continue;
        const value = node.labels[constraint.topologyKey] as string;
        counts.set(value, (counts.get(value) ?? 0) + countMatching(node, constraint.selector, pod.namespace));
      }
    }
    return { state };
  },

  check(state, pod, { labels }) {
    for (const { constraint, counts } of state) {
      const { topologyKey, maxSkew, minDomains, selector } = constraint;
      if (!Object.hasOwn(labels, topologyKey)) return unresolvable(`${reason} (missing required label)`);
      const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
      const own = selector.matches(pod.labels) ? 1 : 0;
      const count = counts.get(labels[topologyKey] as string) ?? 0;
      if (count + own - least > maxSkew) return unschedulable(reason);
    }
    return undefined;
  },

  change(state, pod, other, node, sign) {
    if (
      !hasAllKeys(
        node,
        state.map(({ constraint }) => constraint),
      )
    )
      return;
    for (const { constraint, counts } of state) {
      if (!matches(other, constraint.selector, pod.namespace) || !countsFor(constraint, pod, node)) continue;
      const value = node.labels[constraint.topologyKey] as string;
      counts.set(value, (counts.get(value) ?? 0) + sign);
    }
  },

  copy: (state) => state.map(({ constraint, counts }) => ({ constraint, counts: new Map(counts) })),
});
