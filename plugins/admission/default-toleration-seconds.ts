import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { IsInt, IsOptional } from 'kubenest/sdk/configuration';
import type { Pod, Toleration } from '../common/pod-walker.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/** Upstream's `--default-not-ready-toleration-seconds` and `--default-unreachable-toleration-seconds`. */
export class DefaultTolerationSecondsConfiguration {
  @IsOptional()
  @IsInt()
  notReadySeconds = 300;

  @IsOptional()
  @IsInt()
  unreachableSeconds = 300;
}

/**
 * Adds tolerations for not-ready and unreachable nodes with a time limit to pods that lack them. Upstream:
 * kubernetes/plugin/pkg/admission/defaulttolerationseconds/admission.go.
 */
@AdmissionPlugin({
  name: 'DefaultTolerationSeconds',
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }],
  configuration: DefaultTolerationSecondsConfiguration,
})
export class DefaultTolerationSeconds {
  readonly #seconds: readonly (readonly [taint: string, seconds: number])[];

  constructor(@inject(Configuration) { notReadySeconds, unreachableSeconds }: DefaultTolerationSecondsConfiguration) {
    this.#seconds = [
      [notReady, notReadySeconds],
      [unreachable, unreachableSeconds],
    ];
  }

  admit({ object: { spec } }: Attributes<Pod>): void {
    for (const [key, tolerationSeconds] of this.#seconds) {
      if (!spec.tolerations?.some((toleration) => tolerates(toleration, key))) {
        (spec.tolerations ??= []).push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds });
      }
    }
  }
}

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}
