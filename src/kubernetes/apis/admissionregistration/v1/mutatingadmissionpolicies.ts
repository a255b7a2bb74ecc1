import { sameFields } from '#apiserver/registry/in-version';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { paramKindText } from '#kubernetes/apis/admissionregistration/params';
import { integerColumn, stringColumn } from '#kubernetes/apis/columns';
import type { MutatingAdmissionPolicy } from '#kubernetes/schema/admissionregistration_v1.gen';
import { validateMutatingPolicy, validateMutatingPolicyUpdate } from '#kubernetes/apis/admissionregistration/validation/policies';
import { defaultAdmissionPolicy } from './defaults.ts';

const v1beta1 = { group: 'admissionregistration.k8s.io', version: 'v1beta1' };

export default defineResource<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  resource: 'mutatingadmissionpolicies',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: 'LYmCf+UMVdg=',
  schema: 'admissionregistration_v1.MutatingAdmissionPolicy',
  storagePath: 'mutatingadmissionpolicies',
  storageVersion: {
    version: v1beta1,
    schema: 'admissionregistration_v1beta1.MutatingAdmissionPolicy',
    conversion: sameFields({ ...v1beta1, version: 'v1' }, v1beta1),
  },
  defaults: defaultAdmissionPolicy,
  strategy: reservingStaticNames({
    allowUnconditionalUpdate: false,
    generation: 'spec',
    validate: validateMutatingPolicy,
    validateUpdate: validateMutatingPolicyUpdate,
  }),
  columns: [
    nameColumn,
    integerColumn(
      'Mutations',
      'Mutation indicates the number of mutations rules defined in this configuration',
      (policy) => policy.spec?.mutations?.length ?? 0,
    ),
    stringColumn('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy', (policy) =>
      paramKindText(policy.spec?.paramKind),
    ),
    ageColumn,
  ],
});
