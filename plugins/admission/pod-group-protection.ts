import { AdmissionPlugin, type Attributes, FeatureGates, inject } from 'kubenest/sdk';

const finalizer = 'scheduling.k8s.io/podgroup-protection';

/**
 * Adds a finalizer to pod groups, which protects them while pods belong to them. Upstream:
 * kubernetes/plugin/pkg/admission/scheduling/podgroupprotection/admission.go.
 */
@AdmissionPlugin({
  name: 'PodGroupProtection',
  match: [{ groups: ['scheduling.k8s.io'], resources: ['podgroups'], operations: ['CREATE'] }],
})
export class PodGroupProtection {
  readonly #enabled: boolean;

  constructor(@inject(FeatureGates) features: FeatureGates) {
    this.#enabled = features.enabled('GenericWorkload');
  }

  admit({ object: { metadata } }: Attributes): void {
    if (this.#enabled && !metadata.finalizers?.includes(finalizer)) (metadata.finalizers ??= []).push(finalizer);
  }
}
