import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { storageVersionNameErrors, validateStorageVersion } from '#kubernetes/apis/apiserverinternal/validation';
import { describe, listWithMore, stringColumn } from '#kubernetes/apis/columns';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { StorageVersion } from '#kubernetes/schema/apiserverinternal_v1alpha1.gen';

const status = 'apiserverinternal_v1alpha1.StorageVersionStatus';

export default defineResource<StorageVersion>({
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  kind: 'StorageVersion',
  resource: 'storageversions',
  namespaced: false,
  storageVersionHash: 'c8YZt5U0nPk=',
  schema: 'apiserverinternal_v1alpha1.StorageVersion',
  storagePath: 'storageversions',
  strategy: withoutStatus({ allowUnconditionalUpdate: false, validateName: storageVersionNameErrors }),
  columns: [
    nameColumn,
    stringColumn(
      'CommonEncodingVersion',
      describe(status, 'commonEncodingVersion'),
      (one) => one.status?.commonEncodingVersion ?? '<unset>',
    ),
    stringColumn('StorageVersions', describe(status, 'storageVersions'), (one) =>
      listWithMore(
        (one.status?.storageVersions ?? []).map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`),
      ),
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ metadata: 'keep', strategy: { validateUpdate: validateStorageVersion } }),
  },
});
