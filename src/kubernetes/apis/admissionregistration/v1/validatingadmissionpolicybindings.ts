import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { paramRefText } from '#kubernetes/apis/admissionregistration/params';
import { stringColumn } from '#kubernetes/apis/columns';
import type { ValidatingAdmissionPolicyBinding } from '#kubernetes/schema/admissionregistration_v1.gen';
import { validateValidatingBinding } from '#kubernetes/apis/admissionregistration/validation/bindings';
import { defaultAdmissionPolicyBinding } from './defaults.ts';

export default defineResource<ValidatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: 'v9715VZqakg=',
  schema: 'admissionregistration_v1.ValidatingAdmissionPolicyBinding',
  storagePath: 'validatingadmissionpolicybindings',
  defaults: defaultAdmissionPolicyBinding,
  strategy: reservingStaticNames({
    allowUnconditionalUpdate: false,
    generation: 'spec',
    validate: validateValidatingBinding,
    validateUpdate: validateValidatingBinding,
  }),
  columns: [
    nameColumn,
    stringColumn(
      'PolicyName',
      'PolicyName indicates the policy definition which the policy binding binded to',
      (binding) => binding.spec?.policyName ?? '',
    ),
    stringColumn('ParamRef', 'ParamRef indicates the param resource which sets the configuration param', (binding) =>
      paramRefText(binding.spec?.paramRef),
    ),
    ageColumn,
  ],
});
