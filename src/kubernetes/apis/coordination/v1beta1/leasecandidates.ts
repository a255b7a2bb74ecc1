import { deprecated } from '#apiserver/registry/deprecation';
import { isConfigMapKey } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validateLeaseCandidate, validateLeaseCandidateUpdate } from '#kubernetes/apis/coordination/validation/lease-candidate';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';

export default defineResource<LeaseCandidate>({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  ...deprecated('coordination.k8s.io/v1beta1 LeaseCandidate', '1.36', '1.39'),
  resource: 'leasecandidates',
  storageVersionHash: 'lvME0iHWE20=',
  schema: 'coordination_v1beta1.LeaseCandidate',
  storagePath: 'leasecandidates',
  strategy: {
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    anyFinalizers: true,
    // Names of the form `host_uuid`, which client-go gives to processes.
    validateName: isConfigMapKey,
    validate: validateLeaseCandidate,
    validateUpdate: validateLeaseCandidateUpdate,
  },
  columns: [
    nameColumn,
    stringColumn('LeaseName', describe('coordination_v1alpha2.LeaseCandidateSpec', 'leaseName'), ({ spec }) => spec?.leaseName ?? ''),
    stringColumn('BinaryVersion', '', ({ spec }) => spec?.binaryVersion ?? ''),
    stringColumn('EmulationVersion', '', ({ spec }) => spec?.emulationVersion ?? ''),
    ageColumn,
  ],
});
