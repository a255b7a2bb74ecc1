import { ManifestsConfiguration } from './manifests-configuration.ts';

/** Configuration of ValidatingAdmissionPolicy. Upstream: apiserver/pkg/admission/plugin/policy/config/apis/policyconfig. */
export class ValidatingAdmissionPolicyConfiguration extends ManifestsConfiguration {
  static readonly kinds = ['apiserver.config.k8s.io/v1, ValidatingAdmissionPolicyConfiguration'];
}

/** Configuration of MutatingAdmissionPolicy. Upstream: apiserver/pkg/admission/plugin/policy/config/apis/policyconfig. */
export class MutatingAdmissionPolicyConfiguration extends ManifestsConfiguration {
  static readonly kinds = ['apiserver.config.k8s.io/v1, MutatingAdmissionPolicyConfiguration'];
}
