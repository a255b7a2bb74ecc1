import type { ConvertElsewhere } from '#apimachinery/managedfields/awaited-conversions';
import { FieldSet } from '#apimachinery/managedfields/field-set';
import { newFieldManager } from '#apimachinery/managedfields/field-manager';
import { VersionError } from '#apimachinery/managedfields/updater';
import { fieldElement } from '#apimachinery/managedfields/path-element';
import { groupVersionString, type GroupVersionKind, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import { VersionedForms } from '#apiserver/admission/object-forms';
import type { EndpointHandler, ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { hasTable } from '#apiserver/endpoints/tables';
import {
  customResourceRestrictions,
  resourceRestrictions,
  restrictionsWithoutTable,
  watchEventBuckets,
} from '#apiserver/endpoints/handlers/resource-endpoint';
import { cborGate, type EndpointRestrictions, withCbor } from '#apiserver/endpoints/handlers/negotiation';
import { defaultsOf } from '#apiserver/registry/defaulting';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { Column, ParentSubresource, ResourceDefinition, Strategy, Subresource } from '#apiserver/registry/resource-definition';
import { recordHead } from '#apiserver/registry/record-form';
import type { Scheme } from '#apiserver/registry/scheme';
import type { GroupVersionEndpoints, InstalledEndpoint } from './installed-endpoint.ts';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { newSeries } from '#apiserver/base/metrics/series-histogram';

/** Verb handlers, compiled once by Nest with their guards and interceptors. */
export type VerbHandlers = Readonly<
  Record<'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection', EndpointHandler>
>;

/**
 * Handlers of subresources with a kind of their own and of virtual resources, by `group/resource/subresource` (a virtual resource
 * ends with a slash) and verb.
 */
export interface SpecialHandlers {
  get(key: string): Readonly<Record<string, EndpointHandler>> | undefined;
}

export interface InstallerOptions {
  readonly scheme: Scheme;
  readonly storage: StorageFactory;
  /** Verb handlers, read when the first group is installed. */
  readonly verbs: { readonly verbs: VerbHandlers };
  readonly special: SpecialHandlers;
  readonly features: FeatureGates;
  /** Capabilities that the server grants to objects. */
  readonly capabilities: ReadonlySet<string>;
}

/** Properties of an endpoint that differ from those of its resource. */
interface EndpointTraits {
  readonly kind?: GroupVersionKind;
  /** Name of the type of the request's objects. */
  readonly schema?: string;
  /** Strategy of writes; undefined: that of the resource. */
  readonly strategy?: Strategy | undefined;
  /** The endpoint's own strategy, without the resource's. */
  readonly own?: Strategy;
  readonly columns?: readonly Column[];
}

/** Types, store and versions of resources. */
export interface ResourceSource {
  types(definition: ResourceDefinition): TypeSource;
  store(definition: ResourceDefinition): Store;
  /** Returns the resource in another group version; undefined if there is none. */
  inVersion(definition: ResourceDefinition, groupVersion: string): ResourceDefinition | undefined;
  /** Returns the other definitions of the same objects, in other versions and groups. */
  equivalents(definition: ResourceDefinition): readonly ResourceDefinition[];
  /** Returns the converter of a resource whose versions differ by more than their name. */
  converter?(definition: ResourceDefinition): ConvertElsewhere | undefined;
  /** Returns the handlers of a virtual resource, or of a subresource with a kind of its own; undefined if there are none. */
  special(definition: ResourceDefinition, subresource: string): Readonly<Record<string, EndpointHandler>> | undefined;
}

/** Creates the endpoints of API groups. Upstream: apiserver/pkg/endpoints/installer.go. */
export class Installer {
  readonly #builtIn: ResourceSource;
  readonly #restrictions: Readonly<Record<'builtIn' | 'withoutTable' | 'custom', EndpointRestrictions>>;
  readonly #isEnabled = (feature: string): boolean => this.options.features.enabled(feature);

  constructor(readonly options: InstallerOptions) {
    const { scheme, storage, special, features } = options;
    const forms = features.enabled(cborGate) ? withCbor : (restrictions: EndpointRestrictions) => restrictions;
    this.#restrictions = {
      builtIn: forms(resourceRestrictions),
      withoutTable: forms(restrictionsWithoutTable),
      custom: forms(customResourceRestrictions),
    };
    this.#builtIn = {
      types: ({ group }) => scheme.schemasOf(group),
      store: (definition) => storage.storeFor(definition, scheme.schemasOf(definition.group)),
      inVersion: ({ resource }, groupVersion) => scheme.definition({ ...parseGroupVersion(groupVersion), resource }),
      equivalents: (definition) => scheme.equivalents(definition),
      special: ({ group, resource }, subresource) => special.get(`${group}/${resource}/${subresource}`),
    };
  }

  /** Returns the endpoints of all versions of a group, by `group/version`. */
  install(group: ApiGroup): Map<string, GroupVersionEndpoints> {
    const versions = new Map<string, Map<string, InstalledEndpoint>>();
    for (const { version } of group.versions) versions.set(`${group.group}/${version}`, new Map());
    for (const definition of group.resources) {
      const endpoints = versions.get(`${definition.group}/${definition.version}`);
      if (!endpoints)
        throw new Error(
          `installer: ${definition.resource} has version ${groupVersionString(definition)}, which its group does not declare`,
        );
      for (const [path, endpoint] of this.endpointsOf(definition, this.#builtIn)) endpoints.set(path, endpoint);
    }
    return versions;
  }

  /** Yields the endpoints of a resource and its subresources: `pods`, `pods/status`. */
  *endpointsOf(definition: ResourceDefinition, source: ResourceSource): Iterable<[string, InstalledEndpoint]> {
    const special = source.special(definition, '');
    const main = this.#endpoint(source, definition, '', {});
    yield [definition.resource, { endpoint: main, namespaced: definition.namespaced, verbs: this.#verbs(definition.verbs, special) }];
    for (const [name, subresource] of Object.entries(definition.subresources)) {
      const installed = this.#subresource(source, definition, name, subresource);
      if (installed) yield [`${definition.resource}/${name}`, installed];
    }
  }

  #subresource(
    source: ResourceSource,
    definition: ResourceDefinition,
    name: string,
    subresource: Subresource,
  ): InstalledEndpoint | undefined {
    const { namespaced } = definition;
    const special = source.special(definition, name);
    if (subresource.kind === undefined) {
      const { strategy, verbs } = subresource as ParentSubresource;
      const endpoint = this.#endpoint(source, definition, name, { strategy: inherit(definition.strategy, strategy), own: strategy });
      return { endpoint, namespaced, verbs: this.#verbs(verbs, special) };
    }
    if (!special) return undefined;
    const kind: GroupVersionKind = {
      group: definition.group,
      version: definition.version,
      ...subresource.groupVersion,
      kind: subresource.kind,
    };
    // Connect subresources have no body: their options are in the query and have no schema.
    const schema = subresource.connect ? definition.schema : (subresource.schema ?? definition.schema);
    const endpoint = this.#endpoint(source, definition, name, { kind, schema, own: {}, columns: subresource.columns ?? [] });
    const fieldManager = newFieldManager({
      type: endpoint.type,
      groupVersion: groupVersionString(kind),
      kind: kind.kind,
      subresource: name,
    });
    return {
      endpoint: {
        ...endpoint,
        fieldManager,
        conversion: undefined,
        decode: undefined,
        restrictions: definition.custom ? this.#restrictions.custom : this.#builtInRestrictions(definition, name),
      },
      namespaced,
      verbs: new Map(Object.entries(special)),
    };
  }

  #endpoint(
    source: ResourceSource,
    definition: ResourceDefinition,
    subresource: string,
    { kind = definition, schema = definition.schema, strategy, own = definition.strategy, columns = definition.columns }: EndpointTraits,
  ): ResourceEndpoint {
    const types = source.types(definition);
    const stored = definition.storageVersion;
    const { group, version } = kind;
    const { custom } = definition;
    const head = recordHead(definition.kind, stored?.version ?? definition);
    const described = definition.subresources[subresource];
    const isConnection = described?.kind !== undefined && described.connect === true;
    return {
      definition,
      store: source.store(definition),
      subresource,
      type: types.struct(schema),
      kind: { group, version, kind: kind.kind },
      kinds: this.options.scheme,
      conversion: stored?.conversion,
      strategy,
      columns,
      fieldManager: newFieldManager({
        type: types.struct(definition.applySchema ?? definition.schema),
        codecType: types.struct(definition.schema),
        defaults: (object) => defaultsOf(definition, object),
        groupVersion: groupVersionString(definition),
        kind: definition.kind,
        subresource,
        convert: (object, to) =>
          convertTo(inOwnGroup(source, definition, to), source.inVersion(definition, object.apiVersion) ?? definition, object),
        typeFor: (groupVersion) => typeIn(source, definition, groupVersion),
        isUntyped: custom !== undefined,
        resetFields: this.#resetFields(own),
      }),
      converter: source.converter?.(definition),
      admission: {
        kind: { group, version, kind: kind.kind },
        subresource,
        resource: { group: definition.group, version: definition.version, resource: definition.resource },
        forms: new VersionedForms({
          source,
          definition,
          kind: { group, version, kind: kind.kind },
          kinds: this.options.scheme,
          type: isConnection ? undefined : types.struct(schema),
        }),
      },
      restrictions: custom ? this.#restrictions.custom : this.#builtInRestrictions(definition, subresource),
      decode: custom && ((document) => custom.decode(document)),
      itemPrefix: custom ? 0 : head.length,
      isEnabled: this.#isEnabled,
      capabilities: this.options.capabilities,
      watchEvents: newSeries(watchEventBuckets, { group, version, resource: definition.resource }),
      watchLists: new Map(),
    };
  }

  #resetFields({ resetFields, resetFieldsGate }: Strategy): FieldSet | undefined {
    if (!resetFields || (resetFieldsGate !== undefined && !this.#isEnabled(resetFieldsGate))) return undefined;
    return FieldSet.of(...resetFields.map((path) => path.map(fieldElement)));
  }

  #builtInRestrictions(definition: ResourceDefinition, subresource: string): EndpointRestrictions {
    return hasTable(definition, subresource) ? this.#restrictions.builtIn : this.#restrictions.withoutTable;
  }

  #verbs(names: readonly string[], special: Readonly<Record<string, EndpointHandler>> | undefined): Map<string, EndpointHandler> {
    const verbs = new Map<string, EndpointHandler>();
    for (const name of names) {
      const handler = special?.[name] ?? this.options.verbs.verbs[name as keyof VerbHandlers];
      if (!handler) throw new Error(`installer: no handler for verb ${name}`);
      verbs.set(name, handler);
    }
    return verbs;
  }
}

/**
 * Returns the type of a resource in a version that managedFields name. For a removed version it is undefined for a built-in
 * resource, and throws VersionError for a custom one, which has no conversion to it.
 */
function typeIn(source: ResourceSource, definition: ResourceDefinition, groupVersion: string): StructType | undefined {
  const other = inOwnGroup(source, definition, groupVersion);
  if (!other && definition.custom) throw new VersionError(`request to convert CR to an invalid group/version: ${groupVersion}`);
  return other && source.types(other).struct(other.applySchema ?? other.schema);
}

/**
 * Returns a version of a resource whose fields its managers can be compared with. Upstream makes the types of each group from the OpenAPI of
 * that group, so that a write drops what managers of events own in the other group.
 */
function inOwnGroup(source: ResourceSource, definition: ResourceDefinition, groupVersion: string): ResourceDefinition | undefined {
  const other = source.inVersion(definition, groupVersion);
  return other?.group === definition.group ? other : undefined;
}

/** Converts an object from one version to another through the storage version; undefined if the version is unknown. */
function convertTo(other: ResourceDefinition | undefined, definition: ResourceDefinition, object: KubeObject): KubeObject | undefined {
  if (!other) return undefined;
  const stored = definition.storageVersion ? definition.storageVersion.conversion.toStorage(object) : object;
  return other.storageVersion ? other.storageVersion.conversion.fromStorage(stored) : stored;
}

/** Combines a subresource's strategy with its parent's rules for names, deletion and unconditional updates. */
function inherit(parent: Strategy, own: Strategy): Strategy {
  const { allowUnconditionalUpdate } = parent;
  return allowUnconditionalUpdate === undefined ? own : { allowUnconditionalUpdate, ...own };
}
