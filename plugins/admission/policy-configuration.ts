import { ManifestsConfiguration } from './manifests-configuration.ts';

/** Upstream: apiserver/pkg/admission/plugin/policy/config/apis/policyconfig. */
export class ValidatingAdmissionPolicyConfiguration extends ManifestsConfiguration {
  static readonly kinds = ['apiserver.config.k8s.io/v1, ValidatingAdmissionPolicyConfiguration'];
}

/** Upstream: apiserver/pkg/admission/plugin/policy/config/apis/policyconfig. */
export class MutatingAdmissionPolicyConfiguration extends ManifestsConfiguration {
  static readonly kinds = ['apiserver.config.k8s.io/v1, MutatingAdmissionPolicyConfiguration'];
}
