import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validateLease } from '#kubernetes/apis/coordination/validation/lease';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';

export default defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  storageVersionHash: 'gqkMMb/YqFM=',
  schema: 'coordination_v1.Lease',
  storagePath: 'leases',
  strategy: {
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    anyFinalizers: true,
    validate: validateLease,
    validateUpdate: validateLease,
    prepareForCreate({ spec }, { isEnabled }) {
      if (isEnabled?.('CoordinatedLeaderElection')) return;
      delete spec?.strategy;
      delete spec?.preferredHolder;
    },
    prepareForUpdate({ spec }, old, { isEnabled }) {
      if (isEnabled?.('CoordinatedLeaderElection')) return;
      if (old.spec?.strategy === undefined) delete spec?.strategy;
      if (old.spec?.preferredHolder === undefined) delete spec?.preferredHolder;
    },
  },
  columns: [
    nameColumn,
    stringColumn('Holder', describe('coordination_v1.LeaseSpec', 'holderIdentity'), ({ spec }) => spec?.holderIdentity ?? ''),
    ageColumn,
  ],
});
