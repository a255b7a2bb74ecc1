import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { atOnce } from '#apimachinery/runtime/steps';
import type { ContributedGroupOptions, ContributedResource } from '#apiserver/registry/contributed-group';
import { layeredStrategy } from '#apiserver/registry/layered-strategy';
import type { ParentSubresource, ResourceDefinition } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { defaultCustomResourceDefinition } from '../apis/apiextensions/v1/defaults.ts';
import { validateDefinition } from '../apis/apiextensions/validation/validation.ts';
import { type Converter, withVersion } from '../conversion/converter.ts';
import type { CustomDefinition } from './resource-definitions.ts';

/**
 * The definition that a resource of a package would have if a client had made it: established, under the names that it asks
 * for. Throws an Error that says what is wrong with it, in the words for CustomResourceDefinitions.
 */
export function contributedDefinition(group: string, resource: ContributedResource): CustomResourceDefinition {
  const { kind, resource: plural, singular, listKind, namespaced = true, versions, scale, selectableFields = [] } = resource;
  const stored = resource.storageVersion ?? versions[0]?.name;
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind,
        plural,
        ...(singular !== undefined && { singular }),
        ...(listKind !== undefined && { listKind }),
        shortNames: [...(resource.shortNames ?? [])],
        categories: [...(resource.categories ?? [])],
      },
      versions: versions.map(({ name, schema, deprecationWarning }) => ({
        name,
        served: true,
        storage: name === stored,
        schema: { openAPIV3Schema: deepCopy(schema) },
        subresources: { ...(resource.status && { status: {} }), ...(scale && { scale: { ...scale } }) },
        ...(deprecationWarning !== undefined && { deprecated: true, deprecationWarning }),
        selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
      })),
    },
  };
  defaultCustomResourceDefinition(definition);
  const errors = new Set(errorsOf(definition));
  if (errors.size > 0) throw new Error(`resource ${plural}: ${[...errors].join('; ')}`);
  const established = { type: 'Established', status: 'True' };
  definition.status = { ...definition.status, acceptedNames: { ...definition.spec?.names }, conditions: [established] };
  return definition;
}

/** Each version for itself: what versions have in common is refused in definitions with selectable fields. */
function errorsOf({ spec, ...definition }: CustomResourceDefinition): string[] {
  const { versions = [] } = spec ?? {};
  if (!versions.some(({ storage }) => storage)) return ['storageVersion must be one of versions'];
  return versions.flatMap((version) => {
    const alone = {
      ...definition,
      spec: { ...spec, versions: [{ ...version, storage: true }] },
      status: { storedVersions: [version.name ?? ''] },
    };
    return atOnce(validateDefinition(alone)).map(String);
  });
}

/** One version of it, with what the package says beside the schema. */
export function completeDefinition(custom: CustomDefinition, { strategy = {}, status, columns }: ContributedResource): CustomDefinition {
  const { definition } = custom;
  const subresources = { ...definition.subresources };
  const own = subresources['status'] as ParentSubresource | undefined;
  if (own && typeof status === 'object') subresources['status'] = { ...own, strategy: layeredStrategy(own.strategy, status) };
  const completed: ResourceDefinition = {
    ...definition,
    strategy: layeredStrategy(definition.strategy, strategy),
    columns: columns ?? [nameColumn, ageColumn],
    subresources,
  };
  return { ...custom, definition: completed };
}

/** Of a resource whose versions differ by more than their name. */
export function contributedConverter({ convert }: ContributedResource): (Converter & Disposable) | undefined {
  if (!convert) return undefined;
  return {
    convert: (objects, groupVersion) =>
      Promise.resolve(
        objects.map((object): KubeObject => {
          if (object.apiVersion === groupVersion) return object;
          const { kind, metadata } = object;
          return withVersion({ ...convert(deepCopy(object), groupVersion), kind, metadata }, groupVersion);
        }),
      ),
    [Symbol.dispose]() {},
  };
}

/** The groups of packages, without which a group is twice. Throws an Error that names the group. */
export function checkGroups(contributed: readonly ContributedGroupOptions[], taken: ReadonlySet<string>): void {
  const known = new Set(taken);
  for (const { name, group } of contributed) {
    if (known.has(group)) throw new Error(`plugin ${name}: the server has an API group ${group} already`);
    known.add(group);
  }
}
