import type { ApiGroup } from '#apiserver/registry/api-group';
import mutatingadmissionpolicies from './v1/mutatingadmissionpolicies.ts';
import mutatingadmissionpolicybindings from './v1/mutatingadmissionpolicybindings.ts';
import mutatingwebhookconfigurations from './v1/mutatingwebhookconfigurations.ts';
import validatingadmissionpolicies from './v1/validatingadmissionpolicies.ts';
import validatingadmissionpolicybindings from './v1/validatingadmissionpolicybindings.ts';
import validatingwebhookconfigurations from './v1/validatingwebhookconfigurations.ts';

/** What admissionregistration.k8s.io serves. */
export const admissionRegistrationGroup: ApiGroup = {
  group: 'admissionregistration.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16700,
  resources: [
    mutatingadmissionpolicies,
    mutatingadmissionpolicybindings,
    mutatingwebhookconfigurations,
    validatingadmissionpolicies,
    validatingadmissionpolicybindings,
    validatingwebhookconfigurations,
  ],
};
