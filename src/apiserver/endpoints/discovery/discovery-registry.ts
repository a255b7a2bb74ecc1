import { createHash } from 'node:crypto';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type {
  ApiResourceDiscovery,
  ApiVersionDiscovery,
  GroupDiscovery,
  GroupVersionKindJson,
  ServerDiscovery,
} from './aggregated-form.ts';
import { compareKubeAwareVersions } from './kube-aware-version.ts';
import { mergeDiscovery } from './peer-discovery.ts';

/** A resource of a group version's list. Upstream: metav1.APIResource. */
export interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  storageVersionHash?: string;
}
/** A group in discovery. `ApiGroup` is one; aggregated servers add theirs as fetched. */
export interface DiscoverableGroup extends Pick<ApiGroup, 'group' | 'versions' | 'groupPriorityMinimum'> {
  readonly resources?: readonly ResourceDefinition[];
  /** True for custom resources, which include group and version in the aggregated form; built-in ones leave both empty. */
  readonly custom?: boolean;
  /** Aggregated form of versions that another server serves, by version. */
  readonly remote?: ReadonlyMap<string, ApiVersionDiscovery>;
}

/** A discovery document ready to be sent. */
export interface DiscoveryDocument {
  /** The object, for encodings other than JSON. */
  readonly value: object;
  /** Type of the object in the schema tables. */
  readonly schema: string;
  readonly json: Buffer;
  /** ETag of the aggregated form, without quotes. */
  readonly etag?: string;
}

interface MergedVersion {
  readonly version: string;
  readonly versionPriority: number;
  readonly source: DiscoverableGroup;
}
interface MergedGroup {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly MergedVersion[];
}

/** An address of the server (host:port), and the clients that reach it there. */
export interface ServerAddress {
  readonly clientCIDR: string;
  readonly serverAddress: string;
}

/**
 * Discovery documents of the server in all requested forms. Each source (built-in APIs, custom resources, aggregated servers) sets
 * all of its groups at once; if several have the same version, the source that was set first takes precedence. Documents are built
 * on first use and cached until a source changes.
 */
export class DiscoveryRegistry {
  readonly #sources = new Map<string, readonly DiscoverableGroup[]>();
  readonly #documents = new Map<string, DiscoveryDocument | undefined>();
  #merged: ReadonlyMap<string, MergedGroup> | undefined;
  #peers: { readonly ownId: string; readonly servers: readonly ServerDiscovery[] } | undefined;

  /** `showsStorageHashes`: the feature gate StorageVersionHash, for resources that are not custom. */
  constructor(private readonly showsStorageHashes = true) {}

  /** Replaces the groups of a source; an empty list removes them. */
  set(source: string, groups: readonly DiscoverableGroup[]): void {
    this.#sources.set(source, groups);
    this.#merged = undefined;
    this.#documents.clear();
  }

  /** Replaces the groups of the other servers of the cluster, which only the aggregated form of `/apis` contains. */
  setPeers(ownId: string, servers: readonly ServerDiscovery[]): void {
    this.#peers = servers.length > 0 ? { ownId, servers } : undefined;
    this.#documents.clear();
  }

  /**
   * Returns `/api`. `serverAddresses` are those at which the client reaches the server, by its network. Not cached, because they depend on
   * the client.
   */
  legacyVersions(serverAddresses: readonly ServerAddress[]): DiscoveryDocument | undefined {
    const core = this.#groups().get('');
    return (
      core &&
      documentOf('meta_v1.APIVersions', {
        kind: 'APIVersions',
        versions: core.versions.map(({ version }) => version),
        serverAddressByClientCIDRs: serverAddresses,
      })
    );
  }

  /** Returns `/apis`. */
  groupList(): DiscoveryDocument {
    return this.#document('/apis', 'meta_v1.APIGroupList', () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [...this.#groups().values()].filter(({ group }) => group !== '').map(groupJson),
    }))!;
  }

  /** Returns `/apis/<group>`; undefined for an unknown group. */
  group(group: string): DiscoveryDocument | undefined {
    return this.#document(`/apis/${group}`, 'meta_v1.APIGroup', () => {
      const merged = group === '' ? undefined : this.#groups().get(group);
      return merged && { kind: 'APIGroup', apiVersion: 'v1', ...groupJson(merged) };
    });
  }

  /** Returns `/api/v1` or `/apis/<group>/<version>`; undefined if it is unknown or served by another server. */
  resources(group: string, version: string): DiscoveryDocument | undefined {
    return this.#document(`/apis/${group}/${version}/`, 'meta_v1.APIResourceList', () => {
      const found = this.#version(group, version);
      if (!found || found.source.remote?.has(version)) return undefined;
      return {
        kind: 'APIResourceList',
        // Upstream's list of the core group has no apiVersion.
        ...(group === '' ? {} : { apiVersion: 'v1' }),
        groupVersion: group === '' ? version : `${group}/${version}`,
        resources: resourcesOf(found).flatMap((resource) => apiResources(resource, this.showsStorageHashes)),
      };
    });
  }

  /** True if the version consists of custom resources. */
  isCustom(group: string, version: string): boolean {
    return this.#version(group, version)?.source.custom === true;
  }

  /** True if the server has versions of the group that are neither custom nor served by other servers. */
  isOwn(group: string): boolean {
    return (
      this.#groups()
        .get(group)
        ?.versions.some(({ source }) => !source.custom && !source.remote) === true
    );
  }

  /** Returns the paths of all documents. */
  paths(): string[] {
    return [...this.#groups().values()].flatMap(({ group, versions }) => {
      const root = group === '' ? '/api' : `/apis/${group}`;
      return [root, ...versions.map(({ version }) => `${root}/${version}`)];
    });
  }

  #version(group: string, version: string): MergedVersion | undefined {
    return this.#groups()
      .get(group)
      ?.versions.find((candidate) => candidate.version === version);
  }

  /** True if the version consists of custom resources, or another server behind this one serves it. */
  isForeign(group: string, version: string): boolean {
    const source = this.#version(group, version)?.source;
    return source?.custom === true || source?.remote?.has(version) === true;
  }

  /** Returns `/api` or `/apis` as an APIGroupDiscoveryList of apidiscovery.k8s.io/v2; `/apis` by default with the groups of peers. */
  aggregated(root: 'api' | 'apis', withPeers = true): DiscoveryDocument {
    const peers = withPeers && root === 'apis' ? this.#peers : undefined;
    return this.#document(
      `/${root} aggregated${peers ? ' with peers' : ''}`,
      'apidiscovery_v2.APIGroupDiscoveryList',
      () => {
        const own = this.#aggregatedGroups(root);
        const items = peers ? mergeDiscovery([{ id: peers.ownId, groups: own }, ...peers.servers]) : own;
        return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
      },
      true,
    )!;
  }

  #aggregatedGroups(root: 'api' | 'apis'): GroupDiscovery[] {
    return [...this.#groups().values()]
      .filter(({ group }) => (group === '') === (root === 'api'))
      .map(({ group, versions }) => ({
        metadata: group === '' ? {} : { name: group },
        versions: versions.map((version) => versionDiscovery(group, version)),
      }));
  }

  #document(key: string, schema: string, build: () => object | undefined, withETag = false): DiscoveryDocument | undefined {
    if (!this.#documents.has(key)) {
      const value = build();
      // Missing documents are not cached, because clients can request any name.
      if (!value) return undefined;
      this.#documents.set(key, { ...documentOf(schema, value), ...(withETag ? { etag: etagOf(value) } : {}) });
    }
    return this.#documents.get(key);
  }

  /** Returns all groups in the order of discovery: by priority, then name; versions by priority, then in kube-aware order. */
  #groups(): ReadonlyMap<string, MergedGroup> {
    if (this.#merged) return this.#merged;
    const versions = new Map<string, Map<string, MergedVersion>>();
    const priorities = new Map<string, number>();
    for (const source of [...this.#sources.values()].flat()) {
      const merged = versions.get(source.group) ?? new Map<string, MergedVersion>();
      for (const { version, versionPriority } of source.versions) {
        if (!merged.has(version)) merged.set(version, { version, versionPriority, source });
      }
      versions.set(source.group, merged);
      priorities.set(source.group, Math.max(source.groupPriorityMinimum, priorities.get(source.group) ?? 0));
    }
    const groups = [...versions]
      .filter(([, merged]) => merged.size > 0)
      .map(
        ([group, merged]): MergedGroup => ({
          group,
          priority: priorities.get(group) ?? 0,
          versions: [...merged.values()].sort(
            (a, b) => b.versionPriority - a.versionPriority || compareKubeAwareVersions(a.version, b.version),
          ),
        }),
      );
    groups.sort((a, b) => b.priority - a.priority || (a.group < b.group ? -1 : 1));
    this.#merged = new Map(groups.map((group) => [group.group, group]));
    return this.#merged;
  }
}

function documentOf(schema: string, value: object): DiscoveryDocument {
  return { value, schema, json: Buffer.from(`${JSON.stringify(value)}\n`) };
}

/** Returns the ETag: the hash of the list without its kind, as upstream computes it. */
function etagOf(list: object): string {
  const { kind: _, apiVersion: __, ...content } = list as Record<string, unknown>;
  return createHash('sha512').update(JSON.stringify(content)).digest('hex').toUpperCase();
}

function groupJson({ group, versions }: MergedGroup) {
  const all = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

function resourcesOf({ version, source }: MergedVersion): ResourceDefinition[] {
  return (source.resources ?? []).filter((resource) => resource.version === version);
}

function kindOf(resource: ResourceDefinition, name: string): GroupVersionKindJson {
  const subresource = resource.subresources[name];
  if (subresource?.kind === undefined) return { group: '', version: '', kind: resource.kind };
  return { group: subresource.groupVersion?.group ?? '', version: subresource.groupVersion?.version ?? '', kind: subresource.kind };
}

/**
 * Returns the names of subresources, sorted; those of custom resources in the order of their definition: upstream lists the status
 * first.
 */
function subresourceNames({ subresources, custom }: ResourceDefinition): string[] {
  return custom ? Object.keys(subresources) : Object.keys(subresources).sort();
}

/** Returns the resource and its subresources, such as `pods/status`. */
function apiResources(resource: ResourceDefinition, showsStorageHashes: boolean): ApiResource[] {
  const { namespaced, storageVersionHash } = resource;
  return [
    {
      name: resource.resource,
      singularName: resource.singular,
      namespaced,
      kind: resource.kind,
      verbs: resource.verbs,
      ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
      ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
      ...(storageVersionHash !== undefined && (showsStorageHashes || resource.custom) && { storageVersionHash }),
    },
    ...subresourceNames(resource).map((name): ApiResource => {
      const { group, version, kind } = kindOf(resource, name);
      return {
        name: `${resource.resource}/${name}`,
        singularName: '',
        namespaced,
        ...(group ? { group } : {}),
        ...(version ? { version } : {}),
        kind,
        verbs: resource.subresources[name]?.verbs ?? [],
      };
    }),
  ];
}

function versionDiscovery(group: string, merged: MergedVersion): ApiVersionDiscovery {
  const { version, source } = merged;
  const remote = source.remote?.get(version);
  if (remote) return remote;
  const complete = (kind: GroupVersionKindJson) => (source.custom && kind.group === '' ? { group, version, kind: kind.kind } : kind);
  return {
    version,
    resources: resourcesOf(merged).map((resource): ApiResourceDiscovery => {
      const names = subresourceNames(resource);
      return {
        resource: resource.resource,
        responseKind: complete({ group: '', version: '', kind: resource.kind }),
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: resource.singular,
        verbs: resource.verbs,
        ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
        ...(names.length > 0
          ? {
              subresources: names.map((name) => ({
                subresource: name,
                responseKind: complete(kindOf(resource, name)),
                verbs: resource.subresources[name]?.verbs ?? [],
              })),
            }
          : {}),
      };
    }),
    freshness: 'Current',
  };
}
