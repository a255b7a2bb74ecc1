import { AdmissionPlugin, type Attributes, type KubeObject } from 'kubenest/sdk';

interface Taint {
  readonly key: string;
  readonly effect: string;
}
interface Node extends KubeObject {
  spec?: { taints?: Taint[] };
}

const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/**
 * Taints new nodes as not ready, so that no pods are scheduled on them before they are. Upstream:
 * kubernetes/plugin/pkg/admission/nodetaint/admission.go.
 */
@AdmissionPlugin({ name: 'TaintNodesByCondition', match: [{ groups: [''], resources: ['nodes'], operations: ['CREATE'] }] })
export class TaintNodesByCondition {
  admit(request: Attributes): void {
    const node = request.object as Node;
    const spec = (node.spec ??= {});
    if (spec.taints?.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
    (spec.taints ??= []).push({ ...notReady });
  }
}
