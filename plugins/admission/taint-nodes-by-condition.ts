import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import type { Node } from 'kubenest/kinds';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

/**
 * Taints new nodes as not ready, so that no pods are scheduled on them before they are. Upstream:
 * kubernetes/plugin/pkg/admission/nodetaint/admission.go.
 */
@AdmissionPlugin({ name: 'TaintNodesByCondition', match: [{ groups: [''], resources: ['nodes'], operations: ['CREATE'] }] })
export class TaintNodesByCondition {
  admit({ object: node }: Attributes<Node>): void {
    const spec = (node.spec ??= {});
    if (spec.taints?.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
    (spec.taints ??= []).push({ ...notReady });
  }
}
