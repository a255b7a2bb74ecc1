import { type Filter, unresolvable } from '../framework/framework.ts';
import { untoleratedTaint } from '../../common/tolerations.ts';

const effects = ['NoSchedule', 'NoExecute'];

/** Rejects nodes with a taint that the pod does not tolerate. Upstream: plugins/tainttoleration. */
export const taintToleration: Filter<undefined> = {
  name: 'TaintToleration',
  events: ['NodeAdded', 'NodeTaintsChanged', 'PodChanged'],
  prepare: () => ({ state: undefined }),
  check(_, { pod }, { node }) {
    const { taints = [] } = node.spec ?? {};
    if (taints.length === 0 || !untoleratedTaint(taints, pod.spec?.tolerations ?? [], effects)) return undefined;
    return unresolvable('node(s) had untolerated taint(s)');
  },
};
