import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

/** Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go. */
export function defaultCustomResourceDefinition(definition: CustomResourceDefinition): void {
  const spec = (definition.spec ??= {});
  const names = (spec.names ??= {});
  const { kind = '' } = names;
  if (!names.singular) names.singular = kind.toLowerCase();
  if (!names.listKind && kind !== '') names.listKind = `${kind}List`;
  const conversion = (spec.conversion ??= { strategy: 'None' });
  const service = conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
  const status = (definition.status ??= {});
  if (!status.storedVersions?.length) {
    const storage = spec.versions?.find((version) => version.storage)?.name;
    if (storage !== undefined) status.storedVersions = [storage];
  }
}
