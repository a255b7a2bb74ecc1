import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { validateListSetsAndMaps } from '#apimachinery/structural/list-types';
import { validateEmbeddedResources } from '#apimachinery/structural/object-meta';
import { atOnce, inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { ContributedFields, ContributedGroupOptions, ContributedResource } from '#apiserver/registry/contributed-group';
import { layeredStrategy } from '#apiserver/registry/layered-strategy';
import type {
  Computed,
  ComputedRequest,
  ParentSubresource,
  ResourceDefinition,
  Strategy,
  Subresource,
} from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import type { CustomResourceDefinition, JSONSchemaProps } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { approvedAnnotation } from '../apis/apiextensions/api-approval.ts';
import { defaultCustomResourceDefinition } from '../apis/apiextensions/v1/defaults.ts';
import { validateDefinition } from '../apis/apiextensions/validation/validation.ts';
import { type Converter, withVersion } from '../conversion/converter.ts';
import { actionSchema } from '../registry/custom-types.ts';
import { CustomVersion } from '../registry/custom-version.ts';
import { keepAllBut, keepFields, validateTypeMeta } from '../registry/strategy.ts';
import type { CustomDefinition } from './resource-definitions.ts';

/**
 * Returns the definition that corresponds to a contributed resource: established, with the requested names. Throws an Error with the
 * messages for invalid CustomResourceDefinitions.
 */
export function contributedDefinition(
  { group, approval }: Pick<ContributedGroupOptions, 'group' | 'approval'>,
  resource: ContributedResource,
): CustomResourceDefinition {
  const { kind, resource: plural, singular, listKind, namespaced = true, versions, scale, selectableFields = [] } = resource;
  const stored = resource.storageVersion ?? versions[0]?.name;
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(approval !== undefined && { annotations: { [approvedAnnotation]: approval } }) },
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
        schema: { openAPIV3Schema: deepCopy(schema) as JSONSchemaProps },
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

/** Validates each version separately, since definitions with selectable fields reject fields that all versions share. */
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

/** Returns one version of a contributed resource, with the properties that its package sets beside the schema. */
export function completeDefinition(custom: CustomDefinition, resource: ContributedResource): CustomDefinition {
  const { definition } = custom;
  if (resource.create) return { ...custom, definition: virtualDefinition(custom, resource.create.bind(resource)) };
  if (resource.read) return { ...custom, definition: readOnlyDefinition(custom, resource, resource.read.bind(resource)) };
  const { strategy: own = {}, status, columns } = resource;
  const fields = Object.values(resource.subresources ?? {}).flatMap((one) => ('fields' in one ? one.fields : []));
  const strategy = layeredStrategy(definition.strategy, layeredStrategy(withoutFields(fields), own));
  const added = addedSubresources({ ...definition, strategy }, resource);
  const subresources = { ...definition.subresources, ...added.subresources };
  const kept = subresources['status'] as ParentSubresource | undefined;
  if (kept && typeof status === 'object') subresources['status'] = { ...kept, strategy: layeredStrategy(kept.strategy, status) };
  const completed: ResourceDefinition = {
    ...definition,
    strategy,
    computed: added.computed,
    columns: columns ?? [nameColumn, ageColumn],
    subresources,
  };
  return { ...custom, definition: completed, actions: added.actions };
}

/** Returns the definition of a resource whose objects are computed and not stored. */
function virtualDefinition(
  { definition, version }: CustomDefinition,
  create: (object: KubeObject, request: ComputedRequest) => KubeObject | Promise<KubeObject>,
): ResourceDefinition {
  const answer: Computed = { ...computedBy(version), create: (object, _, request) => create(object, request) };
  return { ...definition, verbs: ['create'], storageVersionHash: undefined, subresources: {}, computed: { '': answer } };
}

/** Returns the definition of a resource whose objects are computed for each GET and LIST. */
function readOnlyDefinition(
  { definition }: CustomDefinition,
  { columns }: ContributedResource,
  read: NonNullable<ResourceDefinition['read']>,
): ResourceDefinition {
  const verbs = ['get', 'list'];
  return { ...definition, verbs, storageVersionHash: undefined, subresources: {}, columns: columns ?? [nameColumn, ageColumn], read };
}

/** Returns the handling of request bodies, which are decoded as custom resources of that version. */
function computedBy(version: CustomVersion): Omit<Computed, 'create'> {
  return {
    decode: (document) => version.decode(document),
    defaults: (object) => version.applyDefaults(object),
    validate: (object) => [
      ...validateTypeMeta(version, object),
      ...version.validator.validate(undefined, object),
      ...validateEmbeddedResources(object, version.structural),
      ...validateListSetsAndMaps(undefined, version.structural, object),
    ],
  };
}

interface AddedSubresources {
  readonly subresources: Record<string, Subresource>;
  readonly computed: Record<string, Computed>;
  /** Kinds of the subresources with a handler. */
  readonly actions: readonly CustomVersion[];
}

function addedSubresources(definition: ResourceDefinition, { subresources = {} }: ContributedResource): AddedSubresources {
  const added = {
    subresources: {} as Record<string, Subresource>,
    computed: {} as Record<string, Computed>,
    actions: [] as CustomVersion[],
  };
  for (const [name, one] of Object.entries(subresources)) {
    if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) || Object.hasOwn(definition.subresources, name))
      throw new Error(`resource ${definition.resource}: subresource ${JSON.stringify(name)} must be a unique DNS label`);
    if ('fields' in one) {
      added.subresources[name] = { verbs: ['get', 'patch', 'update'], strategy: fieldsStrategy(definition.strategy, one) };
    } else {
      const version = new CustomVersion({ ...definition, kind: one.kind }, one.schema, false);
      added.actions.push(version);
      added.subresources[name] = { kind: one.kind, schema: `${actionSchema}${one.kind}`, verbs: ['create'] };
      added.computed[name] = { ...computedBy(version), create: (sent, parent, request) => one.create(sent, parent as KubeObject, request) };
    }
  }
  return added;
}

/** Returns the strategy of a subresource that changes only some fields. `main` is the strategy of the resource. */
function fieldsStrategy(main: Strategy, { fields, strategy = {} }: ContributedFields): Strategy {
  return {
    ...main,
    ...strategy,
    resetFields: [['metadata'], ['spec'], ['status']].filter(([field]) => !fields.includes(field as string)),
    prepareForUpdate(object, old, context) {
      keepAllBut(object, old, fields);
      strategy.prepareForUpdate?.(object, old, context);
    },
    validateUpdate(object, old, context) {
      const errors = main.validateUpdate?.(object, old, context) ?? [];
      return errors.length > 0 ? errors : (strategy.validateUpdate?.(object, old, context) ?? []);
    },
  };
}

/** Returns a strategy that ignores the fields of subresources in writes of the resource itself. */
function withoutFields(fields: readonly string[]): Strategy {
  if (fields.length === 0) return {};
  return {
    resetFields: fields.map((field) => [field]),
    prepareForCreate(object) {
      for (const field of fields) delete object[field];
    },
    prepareForUpdate: (object, old) => keepFields(object, old, fields),
  };
}

/** Returns the converter of a resource whose versions differ by more than their name. */
export function contributedConverter({ convert }: ContributedResource): (Converter & Disposable) | undefined {
  if (!convert) return undefined;
  return {
    convert: (objects, groupVersion) => inSteps(conversionSteps(convert, objects, groupVersion)),
    [Symbol.dispose]() {},
  };
}

function* conversionSteps(
  convert: NonNullable<ContributedResource['convert']>,
  objects: readonly KubeObject[],
  groupVersion: string,
): Steps<KubeObject[]> {
  const converted: KubeObject[] = [];
  for (const object of objects) {
    const { kind, metadata } = object;
    const isOther = object.apiVersion !== groupVersion;
    converted.push(isOther ? withVersion({ ...convert(deepCopy(object), groupVersion), kind, metadata }, groupVersion) : object);
    yield;
  }
  return converted;
}

/** Throws an Error that names a contributed group that already exists. */
export function checkGroups(contributed: readonly ContributedGroupOptions[], taken: ReadonlySet<string>): void {
  const known = new Set(taken);
  for (const { name, group } of contributed) {
    if (known.has(group)) throw new Error(`plugin ${name}: API group ${group} already exists`);
    known.add(group);
  }
}
