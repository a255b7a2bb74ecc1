import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { now } from '#apimachinery/runtime/time';
import type { StorageVersionBarrier } from '#apiserver/endpoints/filters/storage-version-precondition';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '#kubernetes/schema/apiserverinternal_v1alpha1.gen';

/** The resource of the records. */
export const storageVersions: LoopbackTarget = { group: 'internal.apiserver.k8s.io', version: 'v1alpha1', resource: 'storageversions' };
const status: LoopbackTarget = { ...storageVersions, subresource: 'status' };
const allEqual = 'AllEncodingVersionsEqual';

/** A resource as this server stores it. Versions have the form of `apiVersion`. */
export interface StoredResource extends GroupResource {
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
  /** All names under which the same objects are served, including its own. */
  readonly equivalents: readonly GroupResource[];
}

/**
 * Records in StorageVersion objects in which versions this server reads and writes objects, so that a migration knows which ones to
 * rewrite. Upstream: apiserver/pkg/storageversion.
 */
export class StorageVersions implements StorageVersionBarrier {
  completed = false;
  /** Resources that are not written yet, by name. */
  readonly #pending = new Map<string, { lastError: string | undefined }>();

  constructor(
    readonly client: LoopbackClient,
    readonly server: string,
    readonly resources: readonly StoredResource[],
  ) {
    for (const { equivalents } of resources)
      for (const one of equivalents) this.#pending.set(groupResourceString(one), { lastError: undefined });
  }

  isPending(resource: GroupResource): boolean {
    return this.#pending.has(groupResourceString(resource));
  }

  lastError(resource: GroupResource): string | undefined {
    return this.#pending.get(groupResourceString(resource))?.lastError;
  }

  /** Writes all changed records. Rejects with the first failure after all were tried. */
  async update(): Promise<void> {
    const results = await Promise.allSettled(this.resources.map((resource) => this.#update(resource)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    this.completed = true;
  }

  async #update(resource: StoredResource): Promise<void> {
    const names = resource.equivalents.map(groupResourceString);
    try {
      await this.#write(resource);
    } catch (error) {
      const lastError = error instanceof Error ? error.message : String(error);
      for (const name of names) if (this.#pending.has(name)) this.#pending.set(name, { lastError });
      throw error;
    }
    for (const name of names) this.#pending.delete(name);
  }

  async #write({ group, resource, encodingVersion, decodableVersions, servedVersions }: StoredResource): Promise<void> {
    const name = `${group || 'core'}.${resource}`;
    const apiVersion = 'internal.apiserver.k8s.io/v1alpha1';
    await this.client.ensure(storageVersions, { apiVersion, kind: 'StorageVersion', metadata: { name }, spec: {} });
    const own: ServerStorageVersion = {
      apiServerID: this.server,
      encodingVersion,
      decodableVersions: [...decodableVersions],
      servedVersions: [...servedVersions],
    };
    const stored = await this.client.update(status, '', name, (object) => withServer(object, own));
    if (!stored) throw new Error(`${name} was deleted while its status was written`);
  }
}

/** Returns the object with the entry of one server, and the version on which all servers agree. */
export function withServer(object: StorageVersion, own: ServerStorageVersion): KubeObject {
  const old = object.status ?? {};
  const others = old.storageVersions ?? [];
  const at = others.findIndex(({ apiServerID }) => apiServerID === own.apiServerID);
  const servers = at < 0 ? [...others, own] : others.with(at, own);
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion));
  const common = versions.size === 1 ? own.encodingVersion : undefined;
  const next: StorageVersionStatus = {
    storageVersions: servers,
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions: conditionsOf(object, common),
  };
  return { ...object, status: next };
}

/** Returns the conditions. The transition time is that of the last change of the common version, or of its existence. */
function conditionsOf({ metadata, status = {} }: StorageVersion, common: string | undefined): StorageVersionCondition[] {
  const { conditions = [], commonEncodingVersion: before } = status;
  const verdict = common === undefined ? 'Unset' : 'Set';
  const condition: StorageVersionCondition = {
    type: allEqual,
    status: common === undefined ? 'False' : 'True',
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    lastTransitionTime: now(),
    reason: `CommonEncodingVersion${verdict}`,
    message: `Common encoding version ${verdict.toLowerCase()}`,
  };
  const at = conditions.findIndex(({ type }) => type === allEqual);
  const existing = conditions[at];
  if (!existing) return [...conditions, condition];
  const isOther = before !== undefined && common !== undefined && before !== common;
  if (existing.status === condition.status && !isOther && existing.lastTransitionTime !== undefined)
    condition.lastTransitionTime = existing.lastTransitionTime;
  return conditions.with(at, condition);
}
