import type { ApiGroup } from '#apiserver/registry/api-group';
import mutatingadmissionpolicies from './v1/mutatingadmissionpolicies.ts';
import mutatingadmissionpolicybindings from './v1/mutatingadmissionpolicybindings.ts';
import mutatingwebhookconfigurations from './v1/mutatingwebhookconfigurations.ts';
import validatingadmissionpolicies from './v1/validatingadmissionpolicies.ts';
import validatingadmissionpolicybindings from './v1/validatingadmissionpolicybindings.ts';
import validatingwebhookconfigurations from './v1/validatingwebhookconfigurations.ts';
import mutatingadmissionpoliciesV1beta1 from './v1beta1/mutatingadmissionpolicies.ts';
import mutatingadmissionpolicybindingsV1beta1 from './v1beta1/mutatingadmissionpolicybindings.ts';
import mutatingadmissionpoliciesV1alpha1 from './v1alpha1/mutatingadmissionpolicies.ts';
import mutatingadmissionpolicybindingsV1alpha1 from './v1alpha1/mutatingadmissionpolicybindings.ts';

/** The API group admissionregistration.k8s.io. */
export const admissionRegistrationGroup: ApiGroup = {
  group: 'admissionregistration.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 12 },
    { version: 'v1alpha1', versionPriority: 9 },
  ],
  groupPriorityMinimum: 16700,
  resources: [
    mutatingadmissionpolicies,
    mutatingadmissionpolicybindings,
    mutatingwebhookconfigurations,
    validatingadmissionpolicies,
    validatingadmissionpolicybindings,
    validatingwebhookconfigurations,
    mutatingadmissionpoliciesV1beta1,
    mutatingadmissionpolicybindingsV1beta1,
    mutatingadmissionpoliciesV1alpha1,
    mutatingadmissionpolicybindingsV1alpha1,
  ],
};
