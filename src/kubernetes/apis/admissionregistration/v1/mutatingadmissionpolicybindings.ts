import { sameFields } from '#apiserver/registry/in-version';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { paramRefText } from '#kubernetes/apis/admissionregistration/params';
import { stringColumn } from '#kubernetes/apis/columns';
import type { MutatingAdmissionPolicyBinding } from '#kubernetes/schema/admissionregistration_v1.gen';
import { validateMutatingBinding } from '#kubernetes/apis/admissionregistration/validation/bindings';
import { defaultAdmissionPolicyBinding } from './defaults.ts';

const v1beta1 = { group: 'admissionregistration.k8s.io', version: 'v1beta1' };

export default defineResource<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  resource: 'mutatingadmissionpolicybindings',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: '90V5FRZZ3Zg=',
  schema: 'admissionregistration_v1.MutatingAdmissionPolicyBinding',
  storagePath: 'mutatingadmissionpolicybindings',
  storageVersion: {
    version: v1beta1,
    schema: 'admissionregistration_v1beta1.MutatingAdmissionPolicyBinding',
    conversion: sameFields({ ...v1beta1, version: 'v1' }, v1beta1),
  },
  defaults: defaultAdmissionPolicyBinding,
  strategy: reservingStaticNames({
    allowUnconditionalUpdate: false,
    generation: 'spec',
    validate: validateMutatingBinding,
    validateUpdate: validateMutatingBinding,
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
