import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import type { Pod, Toleration } from './pod-walker.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/**
 * Lets pods stay for a while on nodes that are not ready or cannot be reached, unless they say otherwise.
 * Upstream: kubernetes/plugin/pkg/admission/defaulttolerationseconds/admission.go.
 */
@AdmissionPlugin({ name: 'DefaultTolerationSeconds', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }] })
export class DefaultTolerationSeconds {
  /** Upstream's `--default-not-ready-toleration-seconds` and `--default-unreachable-toleration-seconds`. */
  readonly seconds = 300;

  admit(request: Attributes): void {
    const { spec } = request.object as Pod;
    for (const key of [notReady, unreachable]) {
      if (!spec.tolerations?.some((toleration) => tolerates(toleration, key))) {
        (spec.tolerations ??= []).push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: this.seconds });
      }
    }
  }
}

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}
