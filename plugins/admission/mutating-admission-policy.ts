import { AdmissionPlugin, type Attributes, Configuration, inject, PluginServices } from 'kubenest/sdk';
import { MutatingPolicies } from '#sdk/internal';
import { MutatingAdmissionPolicyConfiguration } from './policy-configuration.ts';

/** Applies the cluster's MutatingAdmissionPolicies. Upstream: plugin/policy/mutating/plugin.go. */
@AdmissionPlugin({
  name: 'MutatingAdmissionPolicy',
  configuration: MutatingAdmissionPolicyConfiguration,
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'CONNECT'] }],
})
export class MutatingAdmissionPolicy {
  readonly #policies: MutatingPolicies;

  constructor(@inject(PluginServices) services: PluginServices, @inject(Configuration) { files }: MutatingAdmissionPolicyConfiguration) {
    this.#policies = new MutatingPolicies(services, files);
  }

  admit(request: Attributes): void | Promise<void> {
    return this.#policies.admit(request);
  }
}
