import { deepEqual } from '#apimachinery/runtime/equality';
import { groupVersionString } from '#apimachinery/meta/types';
import type { DiscoverableGroup } from '#apiserver/endpoints/discovery/discovery-registry';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { GroupVersionEndpoints, InstalledEndpoint } from '#apiserver/endpoints/installed-endpoint';
import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { isConditionTrue } from '../apis/apiextensions/conditions.ts';
import { DefinitionController, definitionsTarget } from '../controller/definition-controller.ts';
import { deleteAllInstances } from '../controller/delete-instances.ts';
import { ServedDefinition, type ServedDefinitionOptions } from './served-definition.ts';

/** Priority of custom resources, which come after all built-in groups. */
const groupPriorityMinimum = 1000;
const versionPriority = 100;

export interface CustomResourceServerOptions extends ServedDefinitionOptions {
  readonly client: LoopbackClient;
  /** Names (`plural.group`) of contributed resources, which own the objects of a definition of the same name. */
  readonly contributed?: ReadonlySet<string> | undefined;
  /** Receives the endpoints of all served group versions, by `group/version`: the next request after a change uses them. */
  readonly endpoints: Map<string, GroupVersionEndpoints>;
  /** Called with all served definitions after the endpoints changed, at most once per event loop turn. */
  onChange(groups: readonly DiscoverableGroup[], served: readonly ServedDefinition[]): void;
  onError(error: unknown): void;
}

/**
 * Serves custom resources: watches definitions, and updates endpoints, discovery and OpenAPI. Upstream:
 * apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
 */
export class CustomResourceServer implements AsyncDisposable {
  readonly #served = new Map<string, ServedDefinition>();
  readonly #controller: DefinitionController;
  readonly #groupVersions = new Map<string, Map<string, InstalledEndpoint>>();
  #isChanged = false;
  #subscription: Disposable | undefined;

  constructor(readonly options: CustomResourceServerOptions) {
    this.#controller = new DefinitionController({
      client: options.client,
      deleteInstances: (crd, signal) => this.#deleteInstances(crd, signal),
      overlapping: options.contributed,
      onError: options.onError,
    });
  }

  /** Resolves when the initial definitions are served. */
  async start(): Promise<void> {
    const { client } = this.options;
    this.#subscription = client.informer<CustomResourceDefinition>(definitionsTarget).subscribe((type, crd) => {
      this.#follow(type, crd);
      this.#controller.observe(type, crd);
    });
    await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    this.#controller[Symbol.dispose]();
    for (const served of this.#served.values()) served[Symbol.dispose]();
    this.#served.clear();
  }

  #follow(type: 'ADDED' | 'MODIFIED' | 'DELETED', crd: CustomResourceDefinition): void {
    const { name = '' } = crd.metadata;
    const before = this.#served.get(name);
    const isServed = type !== 'DELETED' && (isConditionTrue(crd, 'NamesAccepted') || isConditionTrue(crd, 'Established'));
    if (before && isServed && isSameService(before.crd, crd)) {
      const { isTerminating, isEstablished } = before;
      before.crd = crd;
      if (isTerminating !== before.isTerminating || isEstablished !== before.isEstablished) this.#change();
      return;
    }
    if (before) {
      this.#served.delete(name);
      this.#remove(before);
      before[Symbol.dispose]();
      this.#change();
    }
    if (!isServed) return;
    try {
      const served = new ServedDefinition(crd, this.options);
      this.#served.set(name, served);
      this.#add(served);
    } catch (error) {
      this.options.onError(error);
    }
    this.#change();
  }

  #add(served: ServedDefinition): void {
    for (const version of served.versions) {
      if (!version.served) continue;
      const groupVersion = groupVersionString(version.definition);
      let endpoints = this.#groupVersions.get(groupVersion);
      if (!endpoints) {
        endpoints = new Map();
        this.#groupVersions.set(groupVersion, endpoints);
        this.options.endpoints.set(groupVersion, endpoints);
      }
      for (const [path, endpoint] of served.endpoints(version)) endpoints.set(path, endpoint);
    }
  }

  #remove(served: ServedDefinition): void {
    for (const version of served.versions) {
      const groupVersion = groupVersionString(version.definition);
      const endpoints = this.#groupVersions.get(groupVersion);
      if (!endpoints) continue;
      for (const path of served.endpoints(version).keys()) endpoints.delete(path);
      if (endpoints.size > 0) continue;
      this.#groupVersions.delete(groupVersion);
      this.options.endpoints.delete(groupVersion);
    }
  }

  #change(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    setImmediate(() => {
      this.#isChanged = false;
      const served = [...this.#served.values()];
      this.options.onChange(discoverableGroups(served), served);
    });
  }

  async #deleteInstances(crd: CustomResourceDefinition, signal: AbortSignal): Promise<void> {
    const served = this.#served.get(crd.metadata.name ?? '');
    if (!served) throw new Error(`unable to find a custom resource client for ${crd.metadata.name}`);
    await deleteAllInstances(served.store, signal);
  }
}

/** True if both definitions serve objects in the same way. The generation is that of the spec, which may be large. */
function isSameService(a: CustomResourceDefinition, b: CustomResourceDefinition): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.generation === b.metadata.generation &&
    deepEqual(a.status?.acceptedNames, b.status?.acceptedNames)
  );
}

/** Returns the groups in discovery: established definitions, by group. */
function discoverableGroups(served: readonly ServedDefinition[]): DiscoverableGroup[] {
  const groups = new Map<string, { versions: Set<string>; resources: ServedDefinition['resources'] }>();
  for (const one of served) {
    if (!one.isEstablished) continue;
    const { group = '' } = one.crd.spec ?? {};
    const found = groups.get(group) ?? { versions: new Set(), resources: [] };
    groups.set(group, found);
    for (const resource of one.resources) {
      found.versions.add(resource.version);
      found.resources.push(resource);
    }
  }
  return [...groups].map(([group, { versions, resources }]) => ({
    group,
    groupPriorityMinimum,
    versions: [...versions].map((version) => ({ version, versionPriority })),
    resources: resources.sort((a, b) => (a.resource < b.resource ? -1 : 1)),
    custom: true,
  }));
}
