import { newForbidden } from '#apimachinery/api/errors';
import { deepCopy } from '#apimachinery/runtime/copy';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import type { EndpointHandler, ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { Installer, ResourceSource } from '#apiserver/endpoints/installer';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';
import type { InstalledEndpoint } from '#apiserver/endpoints/installed-endpoint';
import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { schema } from '#apiextensions-apiserver/schema/schema';
import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { isConditionTrue } from '../apis/apiextensions/conditions.ts';
import { type Converter, withVersion } from '../conversion/converter.ts';
import { type VersionPair, versionedStorage } from '../conversion/versioned-storage.ts';
import { actionSchema, customObjectType } from '../registry/custom-types.ts';
import type { CustomVersion } from '../registry/custom-version.ts';
import { type CustomDefinition, customDefinitions, type RulesOf, terminatingVerbs } from './resource-definitions.ts';

/** Maximum time in milliseconds that the first request for a kind waits for its cache. */
const readyTimeoutMs = 3_000;

export interface ServedDefinitionOptions {
  readonly installer: Installer;
  readonly storage: StorageFactory;
  readonly rulesOf: RulesOf;
  /** Returns the converter of a definition with a conversion webhook; undefined if its versions differ only by name. */
  converterOf(crd: CustomResourceDefinition): (Converter & Disposable) | undefined;
  /** Handlers of the scale subresource, by verb. */
  readonly scale: Readonly<Record<string, EndpointHandler>>;
  /** Handlers of computed (contributed) resources, by verb. */
  readonly computed?: Readonly<Record<string, EndpointHandler>>;
  /** Handlers of resources that are computed for each GET and LIST, by verb. */
  readonly read?: Readonly<Record<string, EndpointHandler>>;
  /** Adds the properties of a version that are not in the definition (contributed resources). */
  complete?(version: CustomDefinition): CustomDefinition;
}

interface OpenVersion extends Disposable {
  readonly store: Store;
}

/**
 * A served definition, valid until its spec or names change. Expensive parts (schemas, types, caches, endpoints) are created on the first
 * request for a version.
 */
export class ServedDefinition implements Disposable {
  readonly versions: readonly CustomDefinition[];
  readonly #open = new Map<string, OpenVersion>();
  readonly #converter: (Converter & Disposable) | undefined;
  #crd: CustomResourceDefinition;
  #isDisposed = false;

  constructor(
    crd: CustomResourceDefinition,
    readonly options: ServedDefinitionOptions,
  ) {
    this.#crd = crd;
    this.#converter = options.converterOf(crd);
    this.versions = customDefinitions(crd, options.rulesOf).map((version) => options.complete?.(version) ?? version);
  }

  get crd(): CustomResourceDefinition {
    return this.#crd;
  }

  /** Adopts changes that do not affect serving, such as conditions. */
  set crd(crd: CustomResourceDefinition) {
    this.#crd = crd;
  }

  get isTerminating(): boolean {
    return isConditionTrue(this.#crd, 'Terminating');
  }

  get isEstablished(): boolean {
    return isConditionTrue(this.#crd, 'Established');
  }

  /** Resource definitions of the served versions, for discovery. */
  get resources(): ResourceDefinition[] {
    const served = this.versions.filter((version) => version.served).map(({ definition }) => definition);
    return this.isTerminating ? served.map((definition) => ({ ...definition, verbs: terminatingVerbs })) : served;
  }

  /** Returns the endpoints of a version: `widgets`, `widgets/status`. */
  endpoints({ definition }: CustomDefinition): Map<string, InstalledEndpoint> {
    const { resource, subresources, namespaced } = definition;
    const made = this.#lazily(definition);
    const paths = [resource, ...Object.keys(subresources).map((name) => `${resource}/${name}`)];
    return new Map(
      paths.map((path) => [
        path,
        {
          namespaced,
          get endpoint() {
            return made(path).endpoint;
          },
          get verbs() {
            return made(path).verbs;
          },
        },
      ]),
    );
  }

  /** The store of the storage version, for the deletion of all instances. */
  get store(): Store {
    const stored = this.versions.find(({ definition }) => definition.version === this.#storedVersion.kind.version);
    return this.#storeOf(stored!.definition);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const open of this.#open.values()) open[Symbol.dispose]();
    this.#open.clear();
    this.#converter?.[Symbol.dispose]();
  }

  get #storedVersion(): CustomVersion {
    const name = this.#crd.spec?.versions?.find(({ storage }) => storage)?.name;
    return this.#version(name ?? '').version;
  }

  #version(name: string): CustomDefinition {
    const found = this.versions.find(({ definition }) => definition.version === name);
    if (!found) throw new Error(`custom resources: ${this.#crd.metadata.name} has no version ${name}`);
    return found;
  }

  #lazily(definition: ResourceDefinition): (path: string) => InstalledEndpoint {
    let endpoints: Map<string, InstalledEndpoint> | undefined;
    return (path) => {
      endpoints ??= new Map(
        [...this.options.installer.endpointsOf(definition, this.#source)].map(([at, installed]) => [at, this.#guard(installed)]),
      );
      const found = endpoints.get(path);
      if (!found) throw new Error(`custom resources: no endpoint ${path}`);
      return found;
    };
  }

  readonly #source: ResourceSource = {
    types: (definition) => this.#types(definition),
    store: (definition) => this.#storeOf(definition),
    inVersion: (definition, groupVersion) => this.#inVersion(definition, groupVersion),
    // With a converter, an object exists in another version only after a conversion.
    equivalents: (definition) =>
      this.#converter
        ? []
        : this.versions.flatMap(
            ({ definition: { group, version } }) => this.#inVersion(definition, groupVersionString({ group, version })) ?? [],
          ),
    converter: () => {
      const converter = this.#converter;
      return converter && (async (object, groupVersion) => (await converter.convert([deepCopy(object)], groupVersion))[0]!);
    },
    special: ({ computed, read }, subresource) => {
      if (read && subresource === '') return this.options.read;
      if (computed && Object.hasOwn(computed, subresource)) return this.options.computed;
      return subresource === 'scale' ? this.options.scale : undefined;
    },
  };

  #types({ version }: ResourceDefinition): TypeSource {
    const { version: custom } = this.#version(version);
    return {
      struct(name): StructType {
        if (name === 'object') return custom.type;
        if (name.startsWith(actionSchema)) return customObjectType({ ...custom.kind, kind: name.slice(actionSchema.length) });
        return name === 'fields' ? custom.applyType : schema.struct(name);
      },
    };
  }

  /** Returns the definition in another version. Without a converter, versions differ only by name. */
  #inVersion({ group }: ResourceDefinition, groupVersion: string): ResourceDefinition | undefined {
    const found = this.versions.find(({ definition }) => groupVersionString({ group, version: definition.version }) === groupVersion);
    const rename = (object: KubeObject): KubeObject => withVersion(object, groupVersion);
    return (
      found && {
        ...found.definition,
        storageVersion: {
          version: found.definition,
          schema: found.definition.schema,
          conversion: { toStorage: rename, fromStorage: rename },
        },
      }
    );
  }

  #storeOf(definition: ResourceDefinition): Store {
    const { version, storagePath } = definition;
    let open = this.#open.get(version);
    if (!open) {
      if (this.#isDisposed) throw new Error(`custom resources: ${this.#crd.metadata.name} is no longer served`);
      const pair: VersionPair = {
        served: this.#version(version).version,
        stored: this.#storedVersion,
        named: (apiVersion) => this.versions.find((one) => one.version.groupVersion === apiVersion)?.version,
      };
      const { storage } = this.options;
      const versioned = versionedStorage(storage.storage, pair, `/${storagePath}/`, this.#converter);
      const hooks = { ...versioned.hooks, beginCreate: (object: KubeObject) => this.#allowCreate(definition, object) };
      open = storage.openVersion(definition, this.#types(definition), { ...versioned, hooks });
      this.#open.set(version, open);
    }
    return open.store;
  }

  #guard(installed: InstalledEndpoint): InstalledEndpoint {
    return { ...installed, verbs: new Map([...installed.verbs].map(([verb, handler]) => [verb, this.#waiting(handler)])) };
  }

  /** Rejects creates while all instances are being deleted. */
  #allowCreate({ group, resource }: ResourceDefinition, { metadata }: KubeObject): undefined {
    const detail = 'create not allowed while custom resource definition is terminating';
    if (this.isTerminating) throw newForbidden({ group, resource }, metadata.name ?? '', detail);
    return undefined;
  }

  /** Wraps a handler so that requests wait for the cache to be filled. */
  #waiting(handler: EndpointHandler): EndpointHandler {
    return (context, endpoint) =>
      endpoint.store.cacher.ready ? handler(context, endpoint) : this.#whenReady(endpoint).then(() => handler(context, endpoint));
  }

  async #whenReady({ store }: ResourceEndpoint): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, readyTimeoutMs);
    });
    await Promise.race([store.cacher.whenTried(), timeout]);
    clearTimeout(timer);
  }
}
