import type { NodeAffinity, PreferredSchedulingTerm } from 'kubenest/types/core_v1';
import { defaultNormalize, type Score } from '../framework/framework.ts';
import { matchesTerm } from '../../common/node-affinity.ts';

/**
 * Returns the score that prefers nodes that match the pod's preferred node affinity and the one that the configuration adds. Upstream:
 * plugins/nodeaffinity (Score).
 */
export const nodeAffinityScore = ({
  preferredDuringSchedulingIgnoredDuringExecution: added = [],
}: NodeAffinity = {}): Score<readonly PreferredSchedulingTerm[]> => ({
  name: 'NodeAffinity',
  weight: 2,
  prepare({ pod }) {
    const own = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [...added, ...own];
    return terms.length > 0 ? terms : undefined;
  },
  score: (terms, _, { node }) =>
    terms.reduce((sum, { weight = 0, preference = {} }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
  normalize: (_, scores) => defaultNormalize(scores, false),
});
