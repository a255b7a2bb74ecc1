import { AdmissionPlugin, type Attributes, Configuration, FeatureGates, inject, PluginServices } from 'kubenest/sdk';
import { MutatingPolicies } from '#sdk/internal';
import { MutatingAdmissionPolicyConfiguration } from './policy-configuration.ts';

/** Applies the cluster's MutatingAdmissionPolicies. Upstream: plugin/policy/mutating/plugin.go. */
@AdmissionPlugin({
  name: 'MutatingAdmissionPolicy',
  configuration: MutatingAdmissionPolicyConfiguration,
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'CONNECT'] }],
})
export class MutatingAdmissionPolicy {
  /** Undefined without the feature gate MutatingAdmissionPolicy. */
  readonly #policies: MutatingPolicies | undefined;

  constructor(
    @inject(PluginServices) services: PluginServices,
    @inject(Configuration) { files }: MutatingAdmissionPolicyConfiguration,
    @inject(FeatureGates) features: FeatureGates,
  ) {
    if (features.enabled('MutatingAdmissionPolicy')) this.#policies = new MutatingPolicies(services, files);
  }

  admit(request: Attributes): void | Promise<void> {
    return this.#policies?.admit(request);
  }
}
