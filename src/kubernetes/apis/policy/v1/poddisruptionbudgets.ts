import { validatePathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { integerColumn, stringColumn } from '#kubernetes/apis/columns';
import {
  validatePodDisruptionBudget,
  validatePodDisruptionBudgetStatusUpdate,
  validatePodDisruptionBudgetUpdate,
} from '#kubernetes/apis/policy/validation/pod-disruption-budget';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { PodDisruptionBudget } from '#kubernetes/schema/policy_v1.gen';

export default defineResource<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  storageVersionHash: 'EVWiDmWqyJw=',
  schema: 'policy_v1.PodDisruptionBudget',
  storagePath: 'poddisruptionbudgets',
  strategy: specAndStatus({
    allowUnconditionalUpdate: false,
    genericMeta: 'all',
    validateName: validatePathSegmentName,
    validate: validatePodDisruptionBudget,
    validateUpdate: validatePodDisruptionBudgetUpdate,
  }),
  columns: [
    nameColumn,
    stringColumn('Min Available', 'The minimum number of pods that must be available.', ({ spec }) => String(spec?.minAvailable ?? 'N/A')),
    stringColumn('Max Unavailable', 'The maximum number of pods that may be unavailable.', ({ spec }) =>
      String(spec?.maxUnavailable ?? 'N/A'),
    ),
    integerColumn(
      'Allowed Disruptions',
      'Calculated number of pods that may be disrupted at this time.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ strategy: { allowUnconditionalUpdate: false, validateUpdate: validatePodDisruptionBudgetStatusUpdate } }),
  },
});
