import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { paramKindText } from '#kubernetes/apis/admissionregistration/params';
import { integerColumn, stringColumn } from '#kubernetes/apis/columns';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { ValidatingAdmissionPolicy } from '#kubernetes/schema/admissionregistration_v1.gen';
import {
  validateValidatingPolicy,
  validateValidatingPolicyStatus,
  validateValidatingPolicyUpdate,
} from '#kubernetes/apis/admissionregistration/validation/policies';
import { defaultAdmissionPolicy } from './defaults.ts';

export default defineResource<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: '6OxvlMmQ6is=',
  schema: 'admissionregistration_v1.ValidatingAdmissionPolicy',
  storagePath: 'validatingadmissionpolicies',
  defaults: defaultAdmissionPolicy,
  strategy: reservingStaticNames(
    specAndStatus({
      allowUnconditionalUpdate: false,
      validate: validateValidatingPolicy,
      validateUpdate: validateValidatingPolicyUpdate,
    }),
  ),
  columns: [
    nameColumn,
    integerColumn(
      'Validations',
      'Validations indicates the number of validation rules defined in this configuration',
      (policy) => policy.spec?.validations?.length ?? 0,
    ),
    stringColumn('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy', (policy) =>
      paramKindText(policy.spec?.paramKind),
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({
      metadata: 'keep',
      strategy: { allowUnconditionalUpdate: false, validateUpdate: validateValidatingPolicyStatus },
    }),
  },
});
