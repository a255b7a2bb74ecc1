import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import type { ServiceAccount } from '#kubernetes/schema/core_v1.gen';

/** Of the secrets that it may use, only the names count. */
function cleanSecretReferences(account: ServiceAccount): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

export default defineResource<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  shortNames: ['sa'],
  storageVersionHash: 'pbx9ZvyFpBE=',
  schema: 'core_v1.ServiceAccount',
  storagePath: 'serviceaccounts',
  strategy: { returnsDeletedObject: true, prepareForCreate: cleanSecretReferences, prepareForUpdate: cleanSecretReferences },
  columns: [
    nameColumn,
    ageColumn,
  ],
  subresources: {
    token: { kind: 'TokenRequest', groupVersion: { group: 'authentication.k8s.io', version: 'v1' }, schema: 'authentication_v1.TokenRequest', verbs: ['create'] },
  },
});
