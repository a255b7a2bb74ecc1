import type { Toleration } from 'kubenest/types/core_v1';
import { defaultNormalize, type Score } from '../framework/framework.ts';
import { tolerates } from '../../common/tolerations.ts';

const preferNoSchedule = 'PreferNoSchedule';

/**
 * Prefers nodes with few taints of the effect PreferNoSchedule that the pod does not tolerate. Upstream: plugins/tainttoleration (Score).
 */
export const taintTolerationScore: Score<readonly Toleration[]> = {
  name: 'TaintToleration',
  weight: 3,
  prepare: ({ pod }) => (pod.spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === preferNoSchedule),
  score: (tolerations, _, { node }) =>
    (node.spec?.taints ?? []).filter((taint) => taint.effect === preferNoSchedule && !tolerations.some((one) => tolerates(one, taint)))
      .length,
  normalize: (_, scores) => defaultNormalize(scores, true),
};
