import { type GroupVersion, groupVersionString } from '#apimachinery/meta/types';
import { componentReference, type JsonSchema } from '#apimachinery/openapi/schemas';
import type { V3Document } from '#apimachinery/openapi/swagger';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import { type JsonSchemaProps, schemaHas } from '#apimachinery/structural/json-schema-props';
import { newStructural, StructuralError } from '#apimachinery/structural/structural';
import { validateStructural } from '#apimachinery/structural/validate-structural';
import { fieldPath } from '#apimachinery/validation/field';
import { DocumentTypes } from '#apiserver/endpoints/openapi/group-version-document';
import { builtInPatchTypes, groupVersionPaths } from '#apiserver/endpoints/openapi/paths';
import type { Steps } from '#apimachinery/runtime/steps';
import type { ResourceDefinition, Subresource } from '#apiserver/registry/resource-definition';
import { tables } from '#apiextensions-apiserver/schema/schema';
import { openApiTypes } from '../apis/apiextensions/validation/open-api-schema.ts';
import { actionSchema } from '../registry/custom-types.ts';
import type { CustomDefinition } from '../server/resource-definitions.ts';
import { inOpenApiOrder, listMetadataSchema, metadataSchema, publishedSchema, sortKeys, typeMeta, withoutV3 } from './custom-schema.ts';

/** Name prefix of types that are in no table: `custom.Widget`. */
const prefix = 'custom.';

/** Returns a model name such as `dev.example.v1.Widget`. */
function modelName({ group, version }: GroupVersion, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

class CustomDocumentTypes extends DocumentTypes {
  override readonly mediaTypes = ['application/json', 'application/yaml'];
  override readonly patchTypes = builtInPatchTypes.filter((type) => !type.includes('strategic'));
  override readonly isCustom = true;

  constructor(readonly groupVersion: GroupVersion) {
    super(tables);
  }

  override reference(type: string): JsonSchema {
    if (!type.startsWith(prefix)) return super.reference(type);
    return componentReference(modelName(this.groupVersion, type.slice(prefix.length)));
  }
}

/** Returns the definition with the model names of its schemas. */
function named(definition: ResourceDefinition): ResourceDefinition {
  const subresources = Object.entries(definition.subresources).map(([name, subresource]): [string, Subresource] => {
    const isAction = subresource.kind !== undefined && subresource.schema?.startsWith(actionSchema);
    return [name, isAction ? { ...subresource, schema: `${prefix}${subresource.kind}` } : subresource];
  });
  return { ...definition, schema: `${prefix}${definition.kind}`, subresources: Object.fromEntries(subresources) };
}

/**
 * Builds the document of `/openapi/v3/apis/<group>/<version>` for custom resources, yielding after each resource. Upstream:
 * apiextensions-apiserver/pkg/controller/openapi/builder, controller/openapiv3.
 */
export function* customDocument(groupVersion: GroupVersion, resources: readonly CustomDefinition[]): Steps<V3Document> {
  const types = new CustomDocumentTypes(groupVersion);
  const paths = groupVersionPaths(
    groupVersion,
    resources.map(({ definition }) => named(definition)),
    types,
  );
  // Type that custom resources refer to.
  types.reference('meta_v1.ObjectMeta');
  types.reference('meta_v1.ListMeta');
  const schemas = new Map(Object.entries(types.components()).map(([name, schema]) => [name, withKindsOfClients(schema)]));
  const byName = new Map(resources.flatMap(withActions).map((resource) => [modelName(groupVersion, resource.definition.kind), resource]));
  for (const [name, resource] of byName) {
    yield;
    schemas.set(name, objectSchema(resource, false));
    if (resource.definition.verbs.includes('list'))
      schemas.set(modelName(groupVersion, resource.definition.listKind), listSchema(resource.definition));
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
    paths: paths as V3Document['paths'],
    components: { schemas: Object.fromEntries([...schemas].sort(([a], [b]) => compareUtf8(a, b))) },
    swaggerSchema(name: string) {
      const resource = byName.get(name);
      return resource && objectSchema(resource, true);
    },
  } as V3Document;
}

/** Groups that upstream's client scheme lacks; documents of custom resources list for DeleteOptions the group versions of that scheme. */
const unknownToClients = new Set(['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io']);
const kindsExtension = 'x-kubernetes-group-version-kind';

/**
 * Returns the schema with the group versions of the client scheme. Upstream: controller/openapi/builder (getDefinition),
 * client-go/kubernetes/scheme.
 */
function withKindsOfClients(schema: JsonSchema): JsonSchema {
  const kinds = schema[kindsExtension] as readonly { group: string }[] | undefined;
  return kinds ? { ...schema, [kindsExtension]: kinds.filter(({ group }) => !unknownToClients.has(group)) } : schema;
}

/** Returns the resource, and its subresource kinds as resources without subresources. */
function withActions(resource: CustomDefinition): CustomDefinition[] {
  const { definition, actions = [] } = resource;
  const kinds = actions.map((version): CustomDefinition => {
    return { definition: { ...definition, kind: version.kind.kind, verbs: [], selectableFields: {} }, version, served: true };
  });
  return [resource, ...kinds];
}

function objectSchema({ definition, version }: CustomDefinition, v2: boolean): JsonSchema {
  const { props } = version;
  const isOpen = v2 && props?.['x-kubernetes-preserve-unknown-fields'];
  const described = props && !isOpen && isPublishable(props) ? publishedSchema(v2 ? withoutV3(props) : props, v2) : undefined;
  const properties = {
    ...(described?.['properties'] as Record<string, JsonSchema> | undefined),
    ...typeMeta(),
    metadata: metadataSchema(),
  };
  return inOpenApiOrder({
    ...(described ?? { type: 'object' }),
    ...(described && { properties: sortKeys(properties) }),
    ...kindExtensions(definition, definition.kind),
  });
}

function listSchema(definition: ResourceDefinition): JsonSchema {
  const { kind, listKind, resource } = definition;
  const more = 'More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
  return {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: sortKeys({
      ...typeMeta(),
      items: {
        description: `List of ${resource}. ${more}`,
        type: 'array',
        items: componentReference(modelName(definition, kind)),
      },
      metadata: listMetadataSchema(),
    }),
    ...kindExtensions(definition, listKind),
  };
}

function kindExtensions({ group, version, selectableFields }: ResourceDefinition, kind: string): JsonSchema {
  const fields = Object.keys(selectableFields).map((fieldName) => ({ fieldPath: fieldName }));
  return {
    [kindsExtension]: [{ group, kind, version }],
    ...(fields.length > 0 && { 'x-kubernetes-selectable-fields': fields }),
  };
}

/** Cache by schema, which is immutable. */
const publishable = new WeakMap<JsonSchemaProps, boolean>();

/** True if the schema can be published. Other schemas are left out, since they could mislead clients. */
function isPublishable(props: JsonSchemaProps): boolean {
  let known = publishable.get(props);
  if (known === undefined) {
    known = isValidStructural(props);
    publishable.set(props, known);
  }
  return known;
}

function isValidStructural(props: JsonSchemaProps): boolean {
  if (schemaHas(props, ({ type = '' }) => type !== '' && !openApiTypes.includes(type))) return false;
  try {
    return validateStructural(fieldPath(''), newStructural(props)).length === 0;
  } catch (error) {
    if (error instanceof StructuralError) return false;
    throw error;
  }
}

/** Inputs of a document: changed inputs make a new document. */
export interface DocumentSources {
  readonly groupVersion: GroupVersion;
  readonly resources: readonly CustomDefinition[];
}

/** Returns all served versions of all definitions, by `apis/<group>/<version>`. */
export function documentSources(definitions: Iterable<CustomDefinition>): Map<string, DocumentSources> {
  const sources = new Map<string, { groupVersion: GroupVersion; resources: CustomDefinition[] }>();
  for (const one of definitions) {
    if (!one.served) continue;
    const { group, version } = one.definition;
    const path = `apis/${groupVersionString({ group, version })}`;
    const found = sources.get(path);
    if (found) found.resources.push(one);
    else sources.set(path, { groupVersion: { group, version }, resources: [one] });
  }
  return sources;
}
