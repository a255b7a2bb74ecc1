import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { dropDisabledFields } from '#kubernetes/apis/scheduling/disabled-fields';
import { validateWorkload, validateWorkloadUpdate } from '#kubernetes/apis/scheduling/validation/workload';
import type { Workload } from '#kubernetes/schema/scheduling_v1alpha2.gen';

export default defineResource<Workload>({
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  kind: 'Workload',
  resource: 'workloads',
  featureGate: 'GenericWorkload',
  storageVersionHash: 'vSX7gJe5Mx8=',
  schema: 'scheduling_v1alpha2.Workload',
  storagePath: 'workloads',
  strategy: {
    prepareForCreate: ({ spec }) => spec?.podGroupTemplates?.forEach(dropDisabledFields),
    prepareForUpdate: ({ spec }) => spec?.podGroupTemplates?.forEach(dropDisabledFields),
    validate: validateWorkload,
    validateUpdate: validateWorkloadUpdate,
  },
  columns: [nameColumn, ageColumn],
});
