import { createHash } from 'node:crypto';
import { JsonPath, JsonPathError } from '#apimachinery/fields/json-path';
import type { KubeObject } from '#apimachinery/meta/types';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { compareKubeAwareVersions } from '#apiserver/endpoints/discovery/kube-aware-version';
import { defineResource, type FieldText, type ResourceDefinition, type Subresource } from '#apiserver/registry/resource-definition';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { customColumns, printed, scaleColumns } from '../registry/columns.ts';
import { CustomVersion } from '../registry/custom-version.ts';
import { customScale, replicasPathsOf } from '../registry/scale.ts';
import { type CustomResourceRules, customResourceStatusStrategy, customResourceStrategy } from '../registry/strategy.ts';

export const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;
/** Verbs that remain while the instances are being deleted. */
export const terminatingVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch'] as const;
const subresourceVerbs = ['get', 'patch', 'update'];

/** A version of a custom resource for the generic server. */
export interface CustomDefinition {
  readonly definition: ResourceDefinition;
  readonly version: CustomVersion;
  readonly served: boolean;
  /** Kinds of contributed subresources. */
  readonly actions?: readonly CustomVersion[];
}

/** Compiles the rules of a version on first use; returns undefined if it has none. */
export type RulesOf = (version: CustomVersion) => CustomResourceRules | undefined;

/**
 * Returns all versions of a definition as resource definitions, like those of built-in resources. They include versions that are not
 * served, in which objects may be stored and fields owned. Names are the accepted ones.
 */
export function customDefinitions(crd: CustomResourceDefinition, rulesOf: RulesOf): CustomDefinition[] {
  const { spec = {}, status = {} } = crd;
  const { group = '', versions = [] } = spec;
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = status.acceptedNames ?? {};
  const byName = new Map<string, CustomVersion>();
  return versions.map((one) => {
    const { name = '', served = false } = one;
    const schema = one.schema?.openAPIV3Schema as JsonSchemaProps | undefined;
    const version = new CustomVersion(
      { group, version: name, kind },
      schema,
      spec.preserveUnknownFields ?? false,
      spec.conversion?.strategy === 'Webhook',
      byName,
    );
    byName.set(name, version);
    const rules = once(() => rulesOf(version));
    const definition = defineResource({
      group,
      version: name,
      kind,
      listKind,
      resource: plural,
      singular,
      namespaced: spec.scope === 'Namespaced',
      shortNames,
      categories,
      verbs,
      storageVersionHash: storageVersionHash(spec),
      schema: 'object',
      applySchema: 'fields',
      storagePath: `${group}/${plural}`,
      custom: version,
      defaults: (object: KubeObject) => version.applyDefaults(object),
      strategy: customResourceStrategy(version, one.subresources, rules),
      selectableFields: selectableFields(one),
      unsupportedField: (label) => `field label not supported: ${label}`,
      columns: customColumns(one.additionalPrinterColumns),
      subresources: subresourcesOf(one, version, rules, spec),
      deprecationWarning: one.deprecated ? (one.deprecationWarning ?? deprecationWarning(name, spec)) : undefined,
    });
    return { definition, version, served };
  });
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function subresourcesOf(
  { subresources }: CustomResourceDefinitionVersion,
  version: CustomVersion,
  rules: () => CustomResourceRules | undefined,
  spec: CustomResourceDefinitionSpec,
): Record<string, Subresource> {
  const found: Record<string, Subresource> = {};
  if (subresources?.status !== undefined)
    found['status'] = { verbs: subresourceVerbs, strategy: customResourceStatusStrategy(version, subresources, rules) };
  if (subresources?.scale)
    found['scale'] = {
      kind: 'Scale',
      groupVersion: { group: 'autoscaling', version: 'v1' },
      schema: 'autoscaling_v1.Scale',
      verbs: subresourceVerbs,
      columns: scaleColumns,
      scale: customScale(subresources.scale, replicasPathsOf(spec)),
    };
  return found;
}

/** Returns the selectable fields; the value of a malformed or dangling path is empty. */
function selectableFields(version: CustomResourceDefinitionVersion): Record<string, FieldText> {
  const fields = (version.selectableFields ?? []).map(({ jsonPath = '' }): [string, FieldText] => {
    try {
      const path = new JsonPath(jsonPath);
      const text: FieldText = (object) => {
        const [value] = path.find(object);
        return value === undefined || value === null ? '' : printed(value);
      };
      return [jsonPath.replace(/^\./, ''), text];
    } catch (error) {
      if (error instanceof JsonPathError) return [jsonPath.replace(/^\./, ''), () => ''];
      throw error;
    }
  });
  return Object.fromEntries(fields);
}

/** Returns the storage version hash of a definition for discovery. Upstream: apiserver/pkg/endpoints/discovery/storageversionhash.go. */
function storageVersionHash({ group = '', versions = [], names = {} }: CustomResourceDefinitionSpec): string {
  const storage = versions.find((version) => version.storage)?.name ?? '';
  return createHash('sha256')
    .update(`${group}/${storage}/${names.kind ?? ''}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}

/** Returns the warning about a deprecated version. Upstream: apiserver/customresource_handler.go (defaultDeprecationWarning). */
function deprecationWarning(deprecated: string, { group, names, versions = [] }: CustomResourceDefinitionSpec): string {
  const message = `${group}/${deprecated} ${names?.kind} is deprecated`;
  const [better] = versions
    .filter((version) => version.served && !version.deprecated && compareKubeAwareVersions(version.name ?? '', deprecated) < 0)
    .map(({ name = '' }) => name)
    .sort(compareKubeAwareVersions);
  return better === undefined ? message : `${message}; use ${group}/${better} ${names?.kind}`;
}
