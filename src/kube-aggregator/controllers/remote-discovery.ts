import type { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { decode } from '#apimachinery/runtime/decode';
import { encode } from '#apimachinery/runtime/encode';
import { parseJson } from '#apimachinery/runtime/json/json';
import type {
  ApiResourceDiscovery,
  ApiSubresourceDiscovery,
  ApiVersionDiscovery,
  GroupDiscovery,
} from '#apiserver/endpoints/discovery/aggregated-form';
import type { ApiResource } from '#apiserver/endpoints/discovery/discovery-registry';

/** The resources of a server, by `group/version`. */
export type RemoteVersions = ReadonlyMap<string, ApiVersionDiscovery>;

const noKind = { group: '', version: '', kind: '' };

/** True if the content type is aggregated discovery, in either version: both have the same members. */
export function isAggregated(contentType: string): boolean {
  return /;\s*g=apidiscovery\.k8s\.io/.test(contentType) && /;\s*v=v2(beta1)?\s*(;|$)/.test(contentType);
}

/** Parses an APIGroupDiscoveryList. Throws an Error if it is malformed. */
export function aggregatedVersions(body: Buffer): RemoteVersions {
  return new Map(
    aggregatedGroups(body).flatMap(({ metadata, versions }) =>
      versions.map((version) => [`${metadata.name ?? ''}/${version.version}`, version]),
    ),
  );
}

/** Like `aggregatedVersions`, but returns the groups in their order. */
export function aggregatedGroups(body: Buffer): GroupDiscovery[] {
  const { items = [] } = typed<{ items?: Partial<GroupDiscovery>[] }>('apidiscovery_v2.APIGroupDiscoveryList', body);
  return items.map(({ metadata = {}, versions = [] }) => ({ metadata, versions: versions.map(completed) }));
}

const completed = (version: ApiVersionDiscovery): ApiVersionDiscovery => ({
  ...version,
  resources: (version.resources ?? []).map((resource) => ({
    ...resource,
    responseKind: resource.responseKind ?? noKind,
    ...(resource.subresources && {
      subresources: resource.subresources.map((one) => ({ ...one, responseKind: one.responseKind ?? noKind })),
    }),
  })),
});

/**
 * Parses the APIResourceList of a server without aggregated discovery. Throws an Error if it is malformed. Upstream:
 * apiserver/pkg/endpoints/installer.go (ConvertGroupVersionIntoToDiscovery).
 */
export function classicResources(body: Buffer): ApiResourceDiscovery[] {
  const { resources = [] } = typed<{ resources?: ApiResource[] }>('meta_v1.APIResourceList', body);
  const subresources = new Map<string, ApiSubresourceDiscovery[]>();
  for (const resource of resources) {
    const [parent = '', name] = resource.name.split('/', 2);
    if (name === undefined) continue;
    const siblings = subresources.get(parent) ?? [];
    subresources.set(parent, siblings);
    siblings.push({ subresource: name, responseKind: kindOf(resource), verbs: resource.verbs });
  }
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, namespaced, singularName, verbs, shortNames, categories } = resource;
      const own = subresources.get(name);
      return {
        resource: name,
        responseKind: kindOf(resource),
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        verbs,
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
        ...(own && { subresources: own }),
      };
    });
}

/** Returns the kind of a resource; an absent group or version stays empty. */
function kindOf({ group = '', version = '', kind }: ApiResource) {
  return { group, version, kind };
}

/** Decodes a document like Go: members of the wrong type are rejected, unknown ones dropped, and all are in the order of their struct. */
function typed<T>(type: string, body: Buffer): T {
  const struct = metaSchema.struct(type);
  const { object } = decode(struct, parseJson(body).value, { strict: false });
  return JSON.parse(encode(struct, object)) as T;
}
