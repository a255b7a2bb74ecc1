import {
  AdmissionPlugin,
  type Attributes,
  deepEqual,
  FeatureGates,
  forbidden,
  type Informer,
  Informers,
  inject,
  quote,
} from 'kubenest/sdk';
import type { Node } from 'kubenest/kinds';
import { semanticDeepEqual } from '#sdk/internal';
import { isSidecar } from '../common/pod-resources.ts';
import type { Pod } from '../common/pod-walker.ts';

/**
 * Features that an update of a running pod requires from its node, sorted by name. Upstream:
 * component-helpers/nodedeclaredfeatures.
 */
const inferences: readonly (readonly [name: string, isNeeded: (old: Pod, pod: Pod) => boolean])[] = [
  ['InPlacePodLevelResourcesVerticalScaling', (old, pod) => !semanticDeepEqual(old.spec.resources, pod.spec.resources)],
  [
    'InPlacePodVerticalScalingInitContainers',
    (old, pod) =>
      (old.spec.initContainers ?? []).some(
        (container, at) => !isSidecar(container) && !deepEqual(container.resources, pod.spec.initContainers?.[at]?.resources),
      ),
  ],
];

/**
 * Denies updates of running pods that require features missing on their node. Upstream:
 * kubernetes/plugin/pkg/admission/nodedeclaredfeatures/admission.go.
 */
@AdmissionPlugin({
  name: 'NodeDeclaredFeatureValidator',
  match: [{ groups: [''], resources: ['pods'], subresources: ['', 'resize'], operations: ['UPDATE'] }],
})
export class NodeDeclaredFeatureValidator {
  readonly #nodes: Informer<Node>;
  readonly #enabled: boolean;

  constructor(@inject(Informers) informers: Informers, @inject(FeatureGates) features: FeatureGates) {
    this.#nodes = informers.for({ group: '', resource: 'nodes' });
    this.#enabled = features.enabled('NodeDeclaredFeatures');
  }

  validate(request: Attributes<Pod>): void {
    const pod = request.object;
    const old = request.oldObject as Pod;
    const { nodeName } = pod.spec;
    if (!this.#enabled || !nodeName || pod.metadata.generation === old.metadata.generation) return;
    const needed = inferences.filter(([, isNeeded]) => isNeeded(old, pod)).map(([name]) => name);
    if (needed.length === 0) return;
    const node = this.#nodes.get('', nodeName);
    if (!node) throw forbidden(request, `node ${quote(nodeName)} not found`);
    const missing = needed.filter((name) => !node.status?.declaredFeatures?.includes(name));
    if (missing.length > 0)
      throw forbidden(request, `pod update requires features ${missing.join(', ')} which are not available on node ${quote(nodeName)}`);
  }
}
