import type { NodeAffinity, NodeSelectorTerm, Pod } from 'kubenest/types/core_v1';
import { type Filter, unresolvable } from '../framework/framework.ts';
import { matchesNodeSelector, matchesRequiredAffinity } from '../../common/node-affinity.ts';

/**
 * Returns the filter that rejects nodes that do not match the node selector or the required node affinity, or the affinity that the
 * configuration adds to all pods. Terms that name nodes, as those of DaemonSets, restrict the nodes that are checked at all. Upstream:
 * plugins/nodeaffinity.
 */
export const nodeAffinity = (added: NodeAffinity = {}): Filter<undefined> => {
  const enforced = added.requiredDuringSchedulingIgnoredDuringExecution;
  return {
    name: 'NodeAffinity',
    events: ['NodeAdded', 'NodeLabelsChanged'],
    prepare({ pod }) {
      const { nodeSelector, affinity } = pod.spec ?? {};
      const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      if (!nodeSelector && !required && !enforced) return 'skip';
      const nodes = namedNodes(pod);
      if (nodes?.size === 0) return { rejection: unresolvable('pod affinity terms conflict') };
      return { state: undefined, ...(nodes && { nodes }) };
    },
    check(_, { pod }, { node }) {
      if (enforced && !matchesNodeSelector(enforced, node)) return unresolvable("node(s) didn't match scheduler-enforced node affinity");
      return matchesRequiredAffinity(pod, node) ? undefined : unresolvable("node(s) didn't match Pod's node affinity/selector");
    },
  };
};

/** Names of the only nodes that the terms allow; undefined if a term does not name any. */
function namedNodes({ spec }: Pod): Set<string> | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    const named = namedByTerm(term);
    if (!named) return undefined;
    for (const name of named) names.add(name);
  }
  return names;
}

/** Names that a term allows: the intersection of its requirements. */
function namedByTerm({ matchFields = [] }: NodeSelectorTerm): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (const { key, operator, values = [] } of matchFields) {
    if (key !== 'metadata.name' || operator !== 'In') continue;
    const before = names;
    names = new Set(before ? values.filter((value) => before.has(value)) : values);
  }
  return names;
}
