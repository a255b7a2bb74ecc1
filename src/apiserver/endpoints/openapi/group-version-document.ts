import { type GroupVersion, groupVersionString } from '#apimachinery/meta/types';
import { type JsonSchema, OpenApiSchemas } from '#apimachinery/openapi/schemas';
import type { TableFolder } from '#apimachinery/runtime/table-folder';
import { standardMediaTypes } from '#apiserver/endpoints/handlers/negotiation';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import { builtInPatchTypes, groupPaths, groupVersionPaths, type PathItem, type PathTypes, type QueryOption, rootPath } from './paths.ts';

/** An OpenAPI 3.0 document. */
export interface OpenApiV3Document {
  openapi: '3.0.0';
  info: { title: string; version: string };
  paths: Record<string, PathItem>;
  components: { schemas?: Record<string, JsonSchema>; securitySchemes: Record<string, object> };
}

export const documentInfo = { title: 'Kubernetes', version: '1.36' } as const;
export const securitySchemes = {
  BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' },
} as const;

/** Features of the server that documents of built-in groups show. */
export interface DocumentTraits {
  /** True if the described resources are also served as CBOR. */
  readonly hasCbor?: boolean;
  /** Feature gate OpenAPIEnums: fields list their values. Default: true. */
  readonly hasEnums?: boolean;
}

/** Types of a document: those that paths reference, and transitively those that these reference. */
export class DocumentTypes implements PathTypes {
  readonly mediaTypes: readonly string[];
  readonly patchTypes: readonly string[];
  readonly isCustom: boolean = false;
  readonly #tables: TableFolder;
  readonly #schemas: OpenApiSchemas;
  readonly #wanted = new Set<string>();

  constructor(tables: TableFolder, groupVersion?: GroupVersion, { hasCbor = false, hasEnums = true }: DocumentTraits = {}) {
    this.mediaTypes = hasCbor ? [...standardMediaTypes, 'application/cbor'] : standardMediaTypes;
    this.patchTypes = hasCbor ? [...builtInPatchTypes, 'application/apply-patch+cbor'] : builtInPatchTypes;
    this.#tables = tables;
    this.#schemas = new OpenApiSchemas(tables, groupVersion && groupVersionString(groupVersion), hasEnums);
  }

  reference(type: string): JsonSchema {
    this.#wanted.add(type);
    return this.#schemas.reference(type);
  }

  options(type: string): readonly QueryOption[] {
    return this.#tables.table<Readonly<Record<string, readonly QueryOption[]>>>('options')[type] ?? [];
  }

  /** Returns the components of all referenced types, sorted by name. */
  components(): Record<string, JsonSchema> {
    const components = new Map<string, JsonSchema>();
    // The set grows during the iteration.
    for (const type of this.#wanted) components.set(this.#schemas.name(type), this.#schemas.component(type, this.#wanted));
    return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function documentOf(paths: Record<string, PathItem>, schemas: Record<string, JsonSchema>): OpenApiV3Document {
  return {
    openapi: '3.0.0',
    info: documentInfo,
    paths,
    components: { ...(Object.keys(schemas).length > 0 && { schemas }), securitySchemes },
  };
}

/** Returns the document of `/openapi/v3/apis/<group>/<version>` for built-in resources. */
export function groupVersionDocument(
  groupVersion: GroupVersion,
  resources: readonly ResourceDefinition[],
  tables: TableFolder,
  traits: DocumentTraits,
): OpenApiV3Document {
  const types = new DocumentTypes(tables, groupVersion, traits);
  const paths = groupVersionPaths(
    groupVersion,
    resources.filter((resource) => resource.version === groupVersion.version),
    types,
  );
  return documentOf(paths, types.components());
}

/** Returns the document of `/openapi/v3/apis/<group>`. */
export function groupDocument(group: string, tables: TableFolder): OpenApiV3Document {
  const types = new DocumentTypes(tables);
  return documentOf(groupPaths(group, types), types.components());
}

type Root = readonly [
  path: string,
  tag: string,
  operationId: string,
  description: string,
  type: string | undefined,
  mediaTypes?: readonly string[],
];

const roots: Readonly<Record<string, Root>> = {
  api: ['/api/', 'core', 'getCoreAPIVersions', 'get available API versions', 'meta_v1.APIVersions', standardMediaTypes],
  apis: ['/apis/', 'apis', 'getAPIVersions', 'get available API versions', 'meta_v1.APIGroupList', standardMediaTypes],
  version: ['/version/', 'version', 'getCodeVersion', 'get the version information for this server', 'version.Info'],
  '.well-known/openid-configuration': [
    '/.well-known/openid-configuration/',
    'WellKnown',
    'getServiceAccountIssuerOpenIDConfiguration',
    "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
    undefined,
  ],
  'openid/v1/jwks': [
    '/openid/v1/jwks/',
    'openid',
    'getServiceAccountIssuerOpenIDKeyset',
    'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
    undefined,
    ['application/jwk-set+json'],
  ],
};

/** Names of `rootDocument`: the last segment of `/openapi/v3/…`. */
export const rootDocumentNames: readonly string[] = Object.keys(roots);

/** Returns the document of a path that belongs to no group, such as `version`. */
export function rootDocument(name: string, tables: TableFolder): OpenApiV3Document {
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined;
  if (!root) throw new Error(`openapi: unknown document ${name}`);
  const [path, tag, operationId, description, type, mediaTypes] = root;
  const types = new DocumentTypes(tables);
  return documentOf(
    rootPath(path, tag, operationId, description, type === undefined ? undefined : types.reference(type), mediaTypes),
    types.components(),
  );
}
