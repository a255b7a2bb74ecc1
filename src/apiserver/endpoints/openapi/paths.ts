import { metaTables } from '#apimachinery/meta/schema/tables';
import type { JsonSchema } from '#apimachinery/openapi/schemas';
import type { GroupVersion } from '#apimachinery/meta/types';
import { streamMediaTypes } from '#apiserver/endpoints/handlers/negotiation';
import type { ResourceDefinition, Subresource } from '#apiserver/registry/resource-definition';

/** Query parameter: `[name, type, description]`. */
export type QueryOption = readonly [name: string, type: string, description: string];
export interface Parameter {
  name: string;
  in: 'query' | 'path';
  description: string;
  required?: true;
  schema: JsonSchema;
}
export interface Operation {
  tags: readonly string[];
  description: string;
  operationId: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema }>; required?: true };
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>;
  'x-kubernetes-action'?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string };
}
export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';
export type PathItem = { [method in Method]?: Operation } & { parameters?: readonly Parameter[] };

/** Types that paths reference. References are schemas; types are named as in the schema tables. */
export interface PathTypes {
  /** Returns `{ $ref: … }` of a type, which becomes a component of the document. */
  reference(type: string): JsonSchema;
  /** Returns the parameters of an options type such as `PodExecOptions`. */
  options(type: string): readonly QueryOption[];
  /** Media types of objects and their lists. */
  readonly mediaTypes: readonly string[];
  readonly patchTypes: readonly string[];
  /** True for custom resources, for which upstream uses another builder: without watches, and with partly different texts. */
  readonly isCustom: boolean;
}

export const builtInPatchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const metaOptions = metaTables.table<Readonly<Record<string, readonly QueryOption[]>>>('options');
const pretty: QueryOption = [
  'pretty',
  'string',
  "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).",
];

/** Parameters of GetOptions. */
const getOptions = (metaOptions['ListOptions'] ?? []).filter(([name]) => name === 'resourceVersion').map(query);

function query([name, type, description]: QueryOption): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}

/** Converts a name to camel case: `rbac.authorization` becomes `rbacAuthorization`. */
function identifier(text: string, capital: boolean): string {
  let upper = capital;
  let result = '';
  for (const [i, c] of [...text].entries()) {
    if (!/[\p{L}_]/u.test(c) && !(i > 0 && /\d/.test(c))) {
      upper = true;
      continue;
    }
    result += upper ? c.toUpperCase() : c;
    upper = false;
  }
  return result;
}

/** Returns the tag of a group version (`rbacAuthorization_v1`), and its part of operation IDs (`RbacAuthorizationV1`). */
export function groupVersionNames({ group, version }: GroupVersion): { tag: string; id: string } {
  const name = (group || 'core').replace(/\.k8s\.io$/, '');
  return { tag: `${identifier(name, false)}_${identifier(version, false)}`, id: identifier(name, true) + identifier(version, true) };
}

function title(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a kind with its article: `a Pod`, `an Ingress`, `Endpoints`. */
function withArticle(kind: string): string {
  if (/[^s]s$/.test(kind)) return kind;
  return `${/^[aeiou]/i.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Returns the content of a response for media types, sorted. */
function content(mediaTypes: readonly string[], schema: JsonSchema): Record<string, { schema: JsonSchema }> {
  return Object.fromEntries([...mediaTypes].sort().map((mediaType) => [mediaType, { schema }]));
}

/** Properties in which the paths of a resource differ. */
interface Place {
  readonly path: string;
  readonly namespaced: boolean;
  readonly allNamespaces: boolean;
  readonly subresource: string;
  readonly withPath: boolean;
}

/** Builds the paths of the resources of one group version. Upstream: apiserver/pkg/endpoints/installer.go. */
class PathBuilder {
  readonly paths: Record<string, PathItem> = {};
  readonly #types: PathTypes;
  readonly #groupVersion: GroupVersion;
  readonly #root: string;
  readonly #names: { tag: string; id: string };

  constructor(groupVersion: GroupVersion, types: PathTypes) {
    this.#types = types;
    this.#groupVersion = groupVersion;
    this.#root = groupVersion.group === '' ? `/api/${groupVersion.version}` : `/apis/${groupVersion.group}/${groupVersion.version}`;
    this.#names = groupVersionNames(groupVersion);
  }

  resourceList(): void {
    this.paths[`${this.#root}/`] = {
      get: {
        tags: [this.#names.tag],
        description: 'get available resources',
        operationId: `get${this.#names.id}APIResources`,
        responses: this.#responses('meta_v1.APIResourceList', this.#types.mediaTypes),
      },
    };
  }

  resource(resource: ResourceDefinition): void {
    const { namespaced } = resource;
    const base = namespaced ? `${this.#root}/namespaces/{namespace}/${resource.resource}` : `${this.#root}/${resource.resource}`;
    const collection: Place = { path: base, namespaced, allNamespaces: false, subresource: '', withPath: false };
    const item: Place = { ...collection, path: `${base}/{name}` };
    const verbs = new Set(resource.verbs);
    const watch = (place: Place) => ({ ...place, path: place.path.replace(this.#root, `${this.#root}/watch`) });
    const type = resource.schema;
    const list = `${type.slice(0, type.indexOf('.') + 1)}${resource.listKind}`;
    const kind = { ...this.#groupVersion, kind: resource.kind };

    if (verbs.has('list')) this.#list(resource, collection, list);
    if (verbs.has('create')) this.#write('post', resource, collection, type, kind);
    if (verbs.has('deletecollection')) this.#deleteCollection(resource, collection);
    if (verbs.has('get')) this.#read(resource, item, type, kind);
    if (verbs.has('update')) this.#write('put', resource, item, type, kind);
    if (verbs.has('patch')) this.#patch(resource, item, type, kind);
    if (verbs.has('delete')) this.#delete(resource, item);
    if (verbs.has('watch') && !this.#types.isCustom) {
      this.#watch(resource, watch(collection), true);
      this.#watch(resource, watch(item), false);
    }
    if (namespaced && verbs.has('list')) {
      const all: Place = { ...collection, path: `${this.#root}/${resource.resource}`, allNamespaces: true };
      this.#list(resource, all, list);
      if (verbs.has('watch') && !this.#types.isCustom) this.#watch(resource, watch(all), true);
    }
    for (const [name, subresource] of Object.entries(resource.subresources)) this.#subresource(resource, name, subresource, item);
  }

  /** Moves parameters that all methods share to their path, and sorts parameters and paths. */
  finish(): Record<string, PathItem> {
    for (const item of Object.values(this.paths)) {
      const operations = Object.entries(item).map(([, value]) => value as Operation);
      const isCommon = commonOf(operations);
      const common = new Map<string, Parameter>();
      for (const operation of operations) {
        const own: Parameter[] = [];
        for (const parameter of operation.parameters ?? []) {
          if (isCommon(parameter)) common.set(key(parameter), parameter);
          else own.push(parameter);
        }
        if (own.length > 0) operation.parameters = own.sort(byName);
        else delete operation.parameters;
      }
      if (common.size > 0) item.parameters = [...common.values()].sort(byName);
    }
    return Object.fromEntries(
      Object.entries(this.paths)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, item]) => [path, orderMethods(item)]),
    );
  }

  #subresource(resource: ResourceDefinition, name: string, subresource: Subresource, item: Place): void {
    const place: Place = { ...item, path: `${item.path}/${name}`, subresource: name };
    const type = subresource.kind === undefined ? resource.schema : (subresource.schema ?? resource.schema);
    const kind =
      subresource.kind === undefined || this.#types.isCustom
        ? { ...this.#groupVersion, kind: resource.kind }
        : { ...(subresource.groupVersion ?? this.#groupVersion), kind: subresource.kind };
    if (name === 'log') {
      this.#log(resource, place, kind);
      return;
    }
    if (subresource.kind !== undefined && subresource.connect) {
      this.#connect(resource, place, subresource.verbs, kind);
      if (name === 'proxy') this.#connect(resource, { ...place, path: `${place.path}/{path}`, withPath: true }, subresource.verbs, kind);
      return;
    }
    const verbs = new Set(subresource.verbs);
    if (verbs.has('get')) this.#read(resource, place, type, kind);
    if (verbs.has('update')) this.#write('put', resource, place, type, kind);
    if (verbs.has('patch')) this.#patch(resource, place, type, kind);
    if (verbs.has('create')) this.#write('post', resource, place, type, kind);
  }

  #add(
    method: Method,
    resource: ResourceDefinition,
    place: Place,
    operation: Omit<Operation, 'tags'>,
    kind: { kind: string } & GroupVersion,
  ): void {
    const parameters = [...(operation.parameters ?? [])];
    if (place.namespaced && !place.allNamespaces)
      parameters.push(pathParameter('namespace', 'object name and auth scope, such as for teams and projects'));
    if (place.path.includes('{name}')) {
      const described = place.subresource ? kind.kind : resource.kind;
      parameters.push(pathParameter('name', `name of the ${described}`));
    }
    if (place.withPath) parameters.push(pathParameter('path', 'path to the resource'));
    const item = (this.paths[place.path] ??= {});
    const { description, operationId, requestBody, responses, 'x-kubernetes-action': action } = operation;
    item[method] = {
      tags: [this.#names.tag],
      description,
      operationId,
      parameters,
      ...(requestBody && { requestBody }),
      responses,
      ...(action !== undefined && { 'x-kubernetes-action': action }),
      'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
    };
  }

  #id(verb: string, resource: ResourceDefinition, place: Place, middle = '', list = ''): string {
    const scope = place.namespaced && !place.allNamespaces ? 'Namespaced' : '';
    const suffix = `${place.withPath ? 'WithPath' : ''}${place.allNamespaces ? 'ForAllNamespaces' : ''}`;
    return `${verb}${this.#names.id}${title(`${middle}${scope}${resource.kind}${title(place.subresource)}${list}${suffix}`)}`;
  }

  #responses(
    type: string,
    mediaTypes: readonly string[],
    more: readonly (readonly [code: string, text: string])[] = [],
  ): Operation['responses'] {
    const schema = this.#types.reference(type);
    const answers = [['200', 'OK'] as const, ...more].map(
      ([code, description]) => [code, { description, content: content(mediaTypes, schema) }] as const,
    );
    return { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } };
  }

  get #streamTypes(): readonly string[] {
    return [...this.#types.mediaTypes, ...streamMediaTypes(this.#types.mediaTypes)];
  }

  #options(type: string, ...without: string[]): Parameter[] {
    return (metaOptions[type] ?? []).filter(([name]) => !without.includes(name)).map(query);
  }

  #body(type: string): Record<string, { schema: JsonSchema }> {
    return content(this.#types.isCustom ? this.#types.mediaTypes : ['*/*'], this.#types.reference(type));
  }

  #of(place: Place): string {
    return place.subresource ? `${place.subresource} of ` : '';
  }

  #list(resource: ResourceDefinition, place: Place, list: string): void {
    const { isCustom, mediaTypes } = this.#types;
    const watches = resource.verbs.includes('watch') && !isCustom;
    this.#add(
      'get',
      resource,
      place,
      {
        description: `${watches ? 'list or watch' : 'list'} objects of kind ${resource.kind}`,
        operationId: this.#id('list', resource, place),
        parameters: [query(pretty), ...this.#options('ListOptions')],
        responses: this.#responses(list, isCustom ? mediaTypes : this.#streamTypes),
        'x-kubernetes-action': 'list',
      },
      { ...this.#groupVersion, kind: resource.kind },
    );
  }

  #watch(resource: ResourceDefinition, place: Place, list: boolean): void {
    this.#add(
      'get',
      resource,
      place,
      {
        description: list
          ? `watch individual changes to a list of ${resource.kind}. deprecated: use the 'watch' parameter with a list operation instead.`
          : `watch changes to an object of kind ${resource.kind}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`,
        operationId: this.#id('watch', resource, place, '', list ? 'List' : ''),
        parameters: [query(pretty), ...this.#options('ListOptions')],
        responses: this.#responses('meta_v1.WatchEvent', this.#streamTypes),
        'x-kubernetes-action': list ? 'watchlist' : 'watch',
      },
      { ...this.#groupVersion, kind: resource.kind },
    );
  }

  #read(resource: ResourceDefinition, place: Place, type: string, kind: { kind: string } & GroupVersion): void {
    this.#add(
      'get',
      resource,
      place,
      {
        description: `read ${this.#of(place)}the specified ${resource.kind}`,
        operationId: this.#id('read', resource, place),
        parameters: [query(pretty), ...(this.#types.isCustom ? getOptions : [])],
        responses: this.#responses(type, this.#types.mediaTypes),
        'x-kubernetes-action': 'get',
      },
      kind,
    );
  }

  #write(method: 'post' | 'put', resource: ResourceDefinition, place: Place, type: string, kind: { kind: string } & GroupVersion): void {
    const creates = method === 'post';
    this.#add(
      method,
      resource,
      place,
      {
        description: creates
          ? `create ${this.#of(place)}${withArticle(resource.kind)}`
          : `replace ${this.#of(place)}the specified ${resource.kind}`,
        operationId: this.#id(creates ? 'create' : 'replace', resource, place),
        parameters: [query(pretty), ...this.#options(creates ? 'CreateOptions' : 'UpdateOptions')],
        requestBody: { content: this.#body(type), required: true },
        responses: this.#responses(
          type,
          this.#types.mediaTypes,
          creates
            ? [
                ['201', 'Created'],
                ['202', 'Accepted'],
              ]
            : [['201', 'Created']],
        ),
        'x-kubernetes-action': method,
      },
      kind,
    );
  }

  #patch(resource: ResourceDefinition, place: Place, type: string, kind: { kind: string } & GroupVersion): void {
    this.#add(
      'patch',
      resource,
      place,
      {
        description: `partially update ${this.#of(place)}the specified ${resource.kind}`,
        operationId: this.#id('patch', resource, place),
        parameters: [query(pretty), ...this.#options('PatchOptions')],
        requestBody: { content: content(this.#types.patchTypes, this.#types.reference('meta_v1.Patch')), required: true },
        responses: this.#responses(type, this.#types.mediaTypes, this.#types.isCustom ? [] : [['201', 'Created']]),
        'x-kubernetes-action': 'patch',
      },
      kind,
    );
  }

  #delete(resource: ResourceDefinition, place: Place): void {
    const answer = resource.strategy.returnsDeletedObject === true ? resource.schema : 'meta_v1.Status';
    this.#add(
      'delete',
      resource,
      place,
      {
        description: `delete ${withArticle(resource.kind)}`,
        operationId: this.#id('delete', resource, place),
        parameters: [query(pretty), ...this.#options('DeleteOptions')],
        requestBody: { content: this.#body('meta_v1.DeleteOptions') },
        responses: this.#responses(answer, this.#types.mediaTypes, [['202', 'Accepted']]),
        'x-kubernetes-action': 'delete',
      },
      { ...this.#groupVersion, kind: resource.kind },
    );
  }

  #deleteCollection(resource: ResourceDefinition, place: Place): void {
    this.#add(
      'delete',
      resource,
      place,
      {
        description: `delete collection of ${resource.kind}`,
        operationId: this.#id('delete', resource, place, 'Collection'),
        parameters: this.#types.isCustom
          ? [query(pretty), ...this.#options('ListOptions')]
          : [query(pretty), ...this.#options('DeleteOptions'), ...this.#options('ListOptions', 'watch', 'allowWatchBookmarks')],
        ...(!this.#types.isCustom && { requestBody: { content: this.#body('meta_v1.DeleteOptions') } }),
        responses: this.#responses('meta_v1.Status', this.#types.mediaTypes),
        'x-kubernetes-action': 'deletecollection',
      },
      { ...this.#groupVersion, kind: resource.kind },
    );
  }

  #log(resource: ResourceDefinition, place: Place, kind: { kind: string } & GroupVersion): void {
    this.#add(
      'get',
      resource,
      place,
      {
        description: `read ${place.subresource} of the specified ${resource.kind}`,
        operationId: this.#id('read', resource, place),
        parameters: [query(pretty), ...this.#types.options('PodLogOptions').map(query)],
        responses: {
          '200': { description: 'OK', content: content(['text/plain', ...this.#types.mediaTypes], { type: 'string' }) },
          '401': { description: 'Unauthorized' },
        },
        'x-kubernetes-action': 'get',
      },
      kind,
    );
  }

  #connect(resource: ResourceDefinition, place: Place, verbs: readonly string[], kind: { kind: string } & GroupVersion): void {
    const methods: Method[] = verbs.includes('delete') ? ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] : ['get', 'post'];
    for (const method of methods) {
      const parameters = this.#types.options(kind.kind).map(query);
      this.#add(
        method,
        resource,
        place,
        {
          description: `connect ${method.toUpperCase()} requests to ${this.#of(place)}${resource.kind}`,
          operationId: this.#id('connect', resource, place, title(method)),
          parameters,
          responses: {
            '200': { description: 'OK', content: { '*/*': { schema: { type: 'string' } } } },
            '401': { description: 'Unauthorized' },
          },
          'x-kubernetes-action': 'connect',
        },
        kind,
      );
    }
  }
}

function key({ in: place, name }: Parameter): string {
  return `${place} ${name}`;
}

/** Returns a predicate that is true for parameters that are equal in all methods of a path. */
function commonOf(operations: readonly Operation[]): (parameter: Parameter) => boolean {
  const seen = new Map<string, { readonly description: string; count: number }>();
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const known = seen.get(key(parameter));
    if (!known) seen.set(key(parameter), { description: parameter.description, count: 1 });
    else if (known.description === parameter.description) known.count += 1;
  }
  return (parameter) => seen.get(key(parameter))?.count === operations.length;
}

function byName(a: Parameter, b: Parameter): number {
  return a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1;
}

const methods: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

function orderMethods(item: PathItem): PathItem {
  const ordered: PathItem = {};
  for (const method of methods) if (item[method]) ordered[method] = item[method];
  if (item.parameters) ordered.parameters = item.parameters;
  return ordered;
}

/** Returns the paths of a group version for its document. */
export function groupVersionPaths(
  groupVersion: GroupVersion,
  resources: readonly ResourceDefinition[],
  types: PathTypes,
): Record<string, PathItem> {
  const builder = new PathBuilder(groupVersion, types);
  if (!types.isCustom) builder.resourceList();
  for (const resource of resources) builder.resource(resource);
  return builder.finish();
}

/** Returns the path of `/apis/<group>`. */
export function groupPaths(group: string, types: PathTypes): Record<string, PathItem> {
  const name = group.replace(/\.k8s\.io$/, '');
  return rootPath(
    `/apis/${group}/`,
    identifier(name, false),
    `get${identifier(name, true)}APIGroup`,
    'get information of a group',
    types.reference('meta_v1.APIGroup'),
    types.mediaTypes,
  );
}

/** Returns a non-resource path that supports GET. Without a schema, the response is text. */
export function rootPath(
  path: string,
  tag: string,
  operationId: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
  mediaTypes: readonly string[] = ['application/json'],
): Record<string, PathItem> {
  return {
    [path]: {
      get: {
        tags: [tag],
        description,
        operationId,
        responses: { '200': { description: 'OK', content: content(mediaTypes, schema) }, '401': { description: 'Unauthorized' } },
      },
    },
  };
}
