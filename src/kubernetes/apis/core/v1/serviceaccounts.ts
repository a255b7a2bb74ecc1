import type { FieldError } from '#apimachinery/validation/field';
import { validateServiceAccountName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { ServiceAccount } from '#kubernetes/schema/core_v1.gen';

/** Keeps only the names of the secret references. */
function cleanSecretReferences(account: ServiceAccount): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

const enforceMountableSecrets = 'kubernetes.io/enforce-mountable-secrets';

function enforceMountableSecretsWarning({ metadata }: ServiceAccount): string[] {
  if (metadata.annotations?.[enforceMountableSecrets] === undefined) return [];
  return [
    `metadata.annotations[${enforceMountableSecrets}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
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
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate: cleanSecretReferences,
    prepareForUpdate: cleanSecretReferences,
    validateUpdate({ metadata }) {
      const errors: FieldError[] = [];
      validateMetaAgain(errors, metadata, validateServiceAccountName);
      return errors;
    },
    warningsOnCreate: enforceMountableSecretsWarning,
    warningsOnUpdate: (account, old) =>
      old.metadata.annotations?.[enforceMountableSecrets] === undefined ? enforceMountableSecretsWarning(account) : [],
  },
  columns: [nameColumn, ageColumn],
  subresources: {
    token: {
      kind: 'TokenRequest',
      groupVersion: { group: 'authentication.k8s.io', version: 'v1' },
      schema: 'authentication_v1.TokenRequest',
      verbs: ['create'],
    },
  },
});
