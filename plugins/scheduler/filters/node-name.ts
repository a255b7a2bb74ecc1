import { type Filter, unresolvable } from '../framework/framework.ts';

/** Rejects all nodes but the one that the pod names. Upstream: plugins/nodename. */
export const nodeName: Filter<string> = {
  name: 'NodeName',
  events: ['NodeAdded'],
  prepare({ pod }) {
    const name = pod.spec?.nodeName;
    return name ? { state: name } : 'skip';
  },
  check: (wanted, _, node) => (wanted === node.name ? undefined : unresolvable("node(s) didn't match the requested node name")),
};
