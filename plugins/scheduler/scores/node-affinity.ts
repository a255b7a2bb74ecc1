import type { PreferredSchedulingTerm } from 'kubenest/types/core_v1';
import { defaultNormalize, type Score } from '../framework/framework.ts';
import { matchesTerm } from '../../common/node-affinity.ts';

/** Prefers nodes that match the pod's preferred node affinity. Upstream: plugins/nodeaffinity (Score). */
export const nodeAffinityScore: Score<readonly PreferredSchedulingTerm[]> = {
  name: 'NodeAffinity',
  weight: 2,
  prepare({ pod }) {
    const terms = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
    return terms?.length ? terms : undefined;
  },
  score: (terms, _, { node }) =>
    terms.reduce((sum, { weight = 0, preference = {} }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
  normalize: (_, scores) => defaultNormalize(scores, false),
};
