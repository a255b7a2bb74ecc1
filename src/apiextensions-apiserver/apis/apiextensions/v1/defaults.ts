import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { decodeNestedSchemas } from './nested-schemas.ts';

/** Defaults a definition, like `defaultCustomResourceDefinitionSteps`. */
export function defaultCustomResourceDefinition(definition: CustomResourceDefinition): void {
  atOnce(defaultCustomResourceDefinitionSteps(definition));
}

/** Defaults a definition; yields to the event loop. Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go. */
export function* defaultCustomResourceDefinitionSteps(definition: CustomResourceDefinition): Steps<void> {
  const spec = (definition.spec ??= {});
  for (const { schema } of spec.versions ?? [])
    if (schema?.openAPIV3Schema) yield* decodeNestedSchemas(schema.openAPIV3Schema as JsonSchemaProps);
  const names = (spec.names ??= {});
  const { kind = '' } = names;
  if (!names.singular) names.singular = kind.toLowerCase();
  if (!names.listKind && kind !== '') names.listKind = `${kind}List`;
  const conversion = (spec.conversion ??= { strategy: 'None' });
  // Upstream's internal type has the two fields of the webhook in the conversion: one without either is none.
  if (conversion.webhook && !conversion.webhook.clientConfig && !conversion.webhook.conversionReviewVersions) delete conversion.webhook;
  const service = conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
  const status = (definition.status ??= {});
  if (!status.storedVersions?.length) {
    const storage = spec.versions?.find((version) => version.storage)?.name;
    if (storage !== undefined) status.storedVersions = [storage];
  }
}
