import { AdmissionPlugin, type Attributes, FeatureGates, type Informer, Informers, inject } from 'kubenest/sdk';
import type { Binding } from 'kubenest/kinds';
import type { Pod } from '../common/pod-walker.ts';

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/**
 * Copies the zone and region labels of a pod's node to the pod. Upstream:
 * kubernetes/plugin/pkg/admission/podtopologylabels/admission.go.
 */
@AdmissionPlugin({
  name: 'PodTopologyLabels',
  match: [{ groups: [''], resources: ['pods'], subresources: ['', 'binding'], operations: ['CREATE'] }],
})
export class PodTopologyLabels {
  readonly #nodes: Informer;
  readonly #enabled: boolean;

  constructor(@inject(Informers) informers: Informers, @inject(FeatureGates) features: FeatureGates) {
    this.#nodes = informers.for({ group: '', resource: 'nodes' });
    this.#enabled = features.enabled('PodTopologyLabelsAdmission');
  }

  admit({ object, subresource }: Attributes): void {
    const nodeName = subresource === 'binding' ? boundNode(object as Binding) : (object as Pod).spec.nodeName;
    if (!this.#enabled || !nodeName) return;
    const labels = this.#nodes.get('', nodeName)?.metadata.labels;
    for (const key of topologyLabels) {
      const value = labels?.[key];
      if (value !== undefined) (object.metadata.labels ??= {})[key] = value;
    }
  }
}

function boundNode({ target }: Binding): string | undefined {
  return target?.kind === 'Node' ? target.name : undefined;
}
