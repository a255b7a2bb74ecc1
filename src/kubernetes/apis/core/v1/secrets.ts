import { keysOf } from '#apimachinery/runtime/wide-objects';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { keyPairProblem } from '#kubernetes/apis/core/tls-key-pair';
import { validateSecret, validateSecretUpdate } from '#kubernetes/apis/core/validation/config';
import type { Secret } from '#kubernetes/schema/core_v1.gen';
import { defaultSecret } from './defaults.ts';

/** Moves the text of `stringData` to `data`, which is the stored form. */
function mergeStringData(secret: Secret): void {
  const { stringData } = secret;
  if (!stringData) return;
  const data = (secret.data ??= {});
  for (const [key, text] of Object.entries(stringData)) {
    Object.defineProperty(data, key, { value: Buffer.from(text).toString('base64'), enumerable: true, configurable: true, writable: true });
  }
  delete secret.stringData;
}

/** Warns about a certificate without its key, which is accepted. */
function secretWarnings({ type, data }: Secret): string[] {
  const problem = type === 'kubernetes.io/tls' ? keyPairProblem(data?.['tls.crt'], data?.['tls.key']) : undefined;
  return problem === undefined ? [] : [problem];
}

export default defineResource<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  storageVersionHash: 'S6u1pOWzb84=',
  schema: 'core_v1.Secret',
  storagePath: 'secrets',
  defaults(secret) {
    mergeStringData(secret);
    defaultSecret(secret);
  },
  strategy: {
    prepareForUpdate(secret, old) {
      if (!secret.type && old.type) secret.type = old.type;
    },
    validate: validateSecret,
    validateUpdate: validateSecretUpdate,
    warningsOnCreate: secretWarnings,
    warningsOnUpdate: secretWarnings,
  },
  selectableFields: { type: ({ type }) => type ?? '' },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    stringColumn('Type', describe('core_v1.Secret', 'type'), ({ type }) => type ?? ''),
    stringColumn('Data', describe('core_v1.Secret', 'data'), ({ data }) => keysOf(data ?? {}).length),
    ageColumn,
  ],
});
