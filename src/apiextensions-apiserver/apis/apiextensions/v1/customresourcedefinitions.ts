import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { quote } from '#apimachinery/runtime/quote';
import { isSupportedFormat } from '#apimachinery/structural/formats';
import { schemaHas } from '#apimachinery/structural/json-schema-props';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { schemasOf } from '../validation/requirements.ts';
import { validateAcceptedNames, validateDefinition, validateDefinitionUpdate } from '../validation/validation.ts';
import { beginDeletion } from './cleanup.ts';
import { defaultCustomResourceDefinition, defaultCustomResourceDefinitionSteps } from './defaults.ts';

/** Adds the storage version to the list of stored versions: objects may still be stored in old ones. */
function addStoredVersion({ spec, status }: CustomResourceDefinition): void {
  const storage = spec?.versions?.find((version) => version.storage)?.name;
  if (!status || storage === undefined || status.storedVersions?.includes(storage)) return;
  status.storedVersions = [...(status.storedVersions ?? []), storage];
}

/** Removes a webhook that upstream does not read back: its stored form has neither a client configuration nor an empty list. */
function dropEmptyWebhook({ spec }: CustomResourceDefinition): void {
  const { conversion } = spec ?? {};
  if (conversion && !conversion.webhook?.clientConfig && !conversion.webhook?.conversionReviewVersions?.length) delete conversion.webhook;
}

/** Returns the errors of the name, beside the general rules. Other checks require that it is present. */
function nameErrors({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const expected = `${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`;
  return (['generateName', 'name'] as const).flatMap((field) => {
    const name = metadata[field] ?? '';
    const isRight = name === '' || name === expected;
    return isRight ? [] : [invalid(fieldPath('metadata', field), name, 'must be spec.names.plural+"."+spec.group')];
  });
}

/** Returns formats that are unknown or do not apply to the type, so that values are not validated. */
function unrecognizedFormats({ spec }: CustomResourceDefinition): string[] {
  const formats: string[] = [];
  for (const schema of schemasOf(spec ?? {})) {
    schemaHas(schema, ({ format, type = '' }) => {
      if (format && !isSupportedFormat(format, type)) formats.push(format);
      return false;
    });
  }
  return formats;
}

const formatWarning = (format: string): string => `unrecognized format ${quote(format)}`;

/** The resource customresourcedefinitions. Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition. */
export default defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  storageVersionHash: 'jfWCUB31mvA=',
  schema: 'apiextensions_v1.CustomResourceDefinition',
  storagePath: 'apiextensions.k8s.io/customresourcedefinitions',
  defaults: defaultCustomResourceDefinition,
  defaultsSteps: defaultCustomResourceDefinitionSteps,
  strategy: {
    resetFields: [['status']],
    allowUnconditionalUpdate: false,
    anyFinalizers: true,
    generation: 'spec',
    prepareForCreate(definition) {
      definition.status = {};
      addStoredVersion(definition);
      dropEmptyWebhook(definition);
    },
    prepareForUpdate(definition, old) {
      definition.status = { ...old.status };
      addStoredVersion(definition);
      dropEmptyWebhook(definition);
    },
    *validateSteps(definition, old) {
      if (old) return yield* validateDefinitionUpdate(definition, old);
      return [...nameErrors(definition), ...(yield* validateDefinition(definition))];
    },
    warningsOnCreate: (definition) => unrecognizedFormats(definition).map(formatWarning),
    warningsOnUpdate(definition, old) {
      const before = new Set(unrecognizedFormats(old));
      return unrecognizedFormats(definition)
        .filter((format) => !before.has(format))
        .map(formatWarning);
    },
    beginDeletion,
  },
  columns: defaultColumns,
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      strategy: {
        resetFields: [['spec']],
        allowUnconditionalUpdate: false,
        anyFinalizers: true,
        prepareForUpdate(definition, old) {
          if (old.spec) definition.spec = old.spec;
        },
        validateUpdate: validateAcceptedNames,
      },
    },
  },
});
