import type { SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';

/** Index of the pods by the name of their node. */
export const podsByNode = 'nodeName';

export function indexPodsByNode(pods: SharedInformer<Pod>): void {
  pods.addIndex(podsByNode, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
}
