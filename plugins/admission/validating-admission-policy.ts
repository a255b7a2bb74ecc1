import { AdmissionPlugin, type Attributes, Configuration, inject, PluginServices } from 'kubenest/sdk';
import { ValidatingPolicies } from '#sdk/internal';
import { ValidatingAdmissionPolicyConfiguration } from './policy-configuration.ts';

/** Enforces the cluster's ValidatingAdmissionPolicies. Upstream: plugin/policy/validating/plugin.go. */
@AdmissionPlugin({
  name: 'ValidatingAdmissionPolicy',
  configuration: ValidatingAdmissionPolicyConfiguration,
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
})
export class ValidatingAdmissionPolicy {
  readonly #policies: ValidatingPolicies;

  constructor(@inject(PluginServices) services: PluginServices, @inject(Configuration) { files }: ValidatingAdmissionPolicyConfiguration) {
    this.#policies = new ValidatingPolicies(services, files);
  }

  validate(request: Attributes): void | Promise<void> {
    return this.#policies.validate(request);
  }
}
