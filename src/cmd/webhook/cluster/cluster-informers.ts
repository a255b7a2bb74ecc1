import { groupResourceString, isNotFound } from '#apimachinery/api/errors';
import { type GroupResource, type GroupVersionResource, groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { decode } from '#apimachinery/runtime/decode';
import type { Logger } from '#apiserver/base/logger';
import type { Informers } from '#apiserver/registry/informers';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';
import type { ClusterApi } from './cluster-api.ts';
import { ClusterInformer } from './cluster-informer.ts';

/**
 * The informers over a cluster, one for each resource that a plugin requests. Their objects have the form of the server's own informers.
 */
export class ClusterInformers implements Informers, Disposable {
  readonly #informers = new Map<string, ClusterInformer>();

  constructor(
    private readonly api: ClusterApi,
    private readonly scheme: Scheme,
    private readonly logger: Logger,
  ) {}

  for<T extends KubeObject = KubeObject>(resource: GroupResource): ClusterInformer<T> {
    const name = groupResourceString(resource);
    return this.#shared(name, () => this.#informer(name, () => this.#versionOf(resource))) as unknown as ClusterInformer<T>;
  }

  /** Returns the informer of a resource in one version. */
  inVersion(resource: GroupVersionResource): ClusterInformer {
    const name = `${groupResourceString(resource)}/${resource.version}`;
    return this.#shared(
      name,
      () => new ClusterInformer(this.api, { path: () => Promise.resolve(pathOf(resource)) }, this.#onFailure(name)),
    );
  }

  /** Returns the informer of a resource in one version, which has no objects while the cluster does not serve it. */
  whereServed<T extends KubeObject = KubeObject>(resource: GroupVersionResource): ClusterInformer<T> {
    const name = groupResourceString(resource);
    const path = async (): Promise<string | undefined> => ((await this.#isServed(resource)) ? pathOf(resource) : undefined);
    return this.#shared(name, () => new ClusterInformer(this.api, { path }, this.#onFailure(name))) as unknown as ClusterInformer<T>;
  }

  /** Throws an Error that names the informers that have not read their objects yet. */
  assertSynced(): void {
    const waiting = [...this.#informers].filter(([, { isSynced }]) => !isSynced);
    if (waiting.length === 0) return;
    const reasons = waiting.map(([name, { failure }]) => (failure ? `${name}: ${failure.message}` : name));
    throw new Error(`informers have not read their objects: ${reasons.join('; ')}`);
  }

  /** Resolves when all informers have read their objects. */
  async whenSynced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map(({ synced }) => synced));
  }

  [Symbol.dispose](): void {
    for (const informer of this.#informers.values()) informer[Symbol.dispose]();
  }

  #shared(name: string, make: () => ClusterInformer): ClusterInformer {
    let informer = this.#informers.get(name);
    if (!informer) this.#informers.set(name, (informer = make()));
    return informer;
  }

  #informer(name: string, version: () => Promise<GroupVersionResource>): ClusterInformer {
    const path = async (): Promise<string> => pathOf(await version());
    return new ClusterInformer(this.api, { path, convert: (object) => this.#inStorageForm(object, name) }, this.#onFailure(name));
  }

  #onFailure(resource: string): (error: Error) => void {
    return (error) => this.logger.warn({ resource, reason: error.message }, 'cannot follow objects of the cluster; trying again');
  }

  async #isServed({ group, version, resource }: GroupVersionResource): Promise<boolean> {
    try {
      const { resources } = await this.api.client.read<ServedVersion>(`/apis/${group}/${version}`);
      return resources.some(({ name }) => name === resource);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Returns the resource in the version that the server stores, if the cluster serves it, else in the version that the cluster prefers. */
  async #versionOf({ group, resource }: GroupResource): Promise<GroupVersionResource> {
    if (group === '') return { group, version: 'v1', resource };
    const { versions, preferredVersion } = await this.api.client.read<ServedGroup>(`/apis/${group}`);
    const known = this.#definitions(group, resource).flatMap((one) => [one.storageVersion?.version.version ?? one.version, one.version]);
    const served = versions.map(({ version }) => version);
    for (const version of new Set([...known, preferredVersion.version, ...served])) {
      if (!served.includes(version)) continue;
      const { resources } = await this.api.client.read<ServedVersion>(`/apis/${group}/${version}`);
      if (resources.some(({ name }) => name === resource)) return { group, version, resource };
    }
    throw new Error(`the cluster does not serve ${groupResourceString({ group, resource })}`);
  }

  #definitions(group: string, resource: string): ResourceDefinition[] {
    const found = this.scheme.known.find((one) => one.group === group)?.resources ?? [];
    return found.filter((definition) => definition.resource === resource);
  }

  /** Decodes an object of a built-in kind; others stay as they are. */
  #inStorageForm(object: KubeObject, name: string): KubeObject {
    const resource = name.split('.', 1)[0] as string;
    const group = name.slice(resource.length + 1);
    const definition = this.#definitions(group, resource).find((one) => groupVersionString(one) === object.apiVersion);
    if (!definition) return object;
    const { object: decoded } = decode<KubeObject>(this.scheme.schemasOf(group).struct(definition.schema), object);
    return definition.storageVersion?.conversion.toStorage(decoded) ?? decoded;
  }
}

interface ServedGroup {
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion: { readonly version: string };
}

interface ServedVersion {
  readonly resources: readonly { readonly name: string }[];
}

/** Returns the path of a collection in all namespaces. */
export function pathOf({ group, version, resource }: GroupVersionResource): string {
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`;
}
