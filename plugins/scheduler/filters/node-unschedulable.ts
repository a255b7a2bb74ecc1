import { type Filter, unresolvable } from '../framework/framework.ts';
import { tolerates } from '../../common/tolerations.ts';

const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Rejects cordoned nodes, unless the pod tolerates their taint. Upstream: plugins/nodeunschedulable. */
export const nodeUnschedulable: Filter<undefined> = {
  name: 'NodeUnschedulable',
  events: ['NodeAdded', 'NodeTaintsChanged', 'PodChanged'],
  prepare: () => ({ state: undefined }),
  check(_, { pod }, { node }) {
    if (!node.spec?.unschedulable) return undefined;
    return pod.spec?.tolerations?.some((one) => tolerates(one, taint)) ? undefined : unresolvable('node(s) were unschedulable');
  },
};
