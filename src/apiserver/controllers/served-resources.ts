import type { GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { RequestClient } from '#apiserver/registry/client';

/** A resource that the server or an extension server serves. */
export interface ServedResource extends GroupVersionResource, GroupVersionKind {
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface ServedResources {
  /** Resources without subresources, in the preferred version of their group or in all. */
  readonly resources: readonly ServedResource[];
  /** Groups whose extension server does not answer, as GROUP/VERSION. */
  readonly unavailable: readonly string[];
}

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind?: string };
        readonly scope: string;
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export interface ServedResourcesOptions {
  /** Returns each resource in all of its versions. Default: only in the preferred one. */
  readonly allVersions?: boolean;
}

/** Returns the served resources by discovery. Upstream: client-go/discovery.ServerPreferredResources and ServerGroupsAndResources. */
export async function servedResources(
  client: Pick<RequestClient, 'read'>,
  { allVersions = false }: ServedResourcesOptions = {},
): Promise<ServedResources> {
  const lists = await Promise.all(['/api', '/apis'].map((path) => client.read<DiscoveryList>(path, accept)));
  const resources = new Map<string, ServedResource>();
  const unavailable: string[] = [];
  for (const { metadata, versions = [] } of lists.flatMap(({ items = [] }) => items)) {
    const group = metadata?.name ?? '';
    for (const { version, freshness, resources: served = [] } of versions) {
      if (freshness === 'Stale') unavailable.push(`${group}/${version}`);
      for (const { resource, responseKind, scope, verbs = [] } of served) {
        const key = allVersions ? `${group}/${version}/${resource}` : `${group}/${resource}`;
        if (resources.has(key)) continue;
        resources.set(key, { group, version, resource, kind: responseKind?.kind ?? '', namespaced: scope === 'Namespaced', verbs });
      }
    }
  }
  return { resources: [...resources.values()], unavailable };
}
