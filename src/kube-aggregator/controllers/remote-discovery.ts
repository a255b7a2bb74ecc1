import type { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { decodeSteps } from '#apimachinery/runtime/decode-steps';
import { encodeLineSteps } from '#apimachinery/runtime/encode';
import { parseJsonSteps } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { type Steps, workOn } from '#apimachinery/runtime/steps';
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

/** Parses an APIGroupDiscoveryList. Yields to the event loop if it is large. Rejects with an Error if it is malformed. */
export async function aggregatedVersions(body: Buffer): Promise<RemoteVersions> {
  const groups = await aggregatedGroups(body);
  return new Map(
    groups.flatMap(({ metadata, versions }) => versions.map((version) => [`${metadata.name ?? ''}/${version.version}`, version])),
  );
}

/** Like `aggregatedVersions`, but returns the groups in their order. */
export async function aggregatedGroups(body: Buffer): Promise<GroupDiscovery[]> {
  const { items = [] } = await typed<{ items?: Partial<GroupDiscovery>[] }>('apidiscovery_v2.APIGroupDiscoveryList', body);
  return workOn(body.length, completedGroups(items));
}

const itemsOfStep = 1_024;

function* completedGroups(items: readonly Partial<GroupDiscovery>[]): Steps<GroupDiscovery[]> {
  const groups: GroupDiscovery[] = [];
  for (const { metadata = {}, versions = [] } of items) {
    const own: ApiVersionDiscovery[] = [];
    for (const version of versions) own.push({ ...version, resources: yield* completedResources(version.resources ?? []) });
    groups.push({ metadata, versions: own });
    if (groups.length % itemsOfStep === 0) yield;
  }
  return groups;
}

function* completedResources(resources: readonly ApiResourceDiscovery[]): Steps<ApiResourceDiscovery[]> {
  const all: ApiResourceDiscovery[] = [];
  for (const resource of resources) {
    const { subresources } = resource;
    all.push({
      ...resource,
      responseKind: resource.responseKind ?? noKind,
      ...(subresources && { subresources: subresources.map((one) => ({ ...one, responseKind: one.responseKind ?? noKind })) }),
    });
    if (all.length % itemsOfStep === 0) yield;
  }
  return all;
}

/**
 * Parses the APIResourceList of a server without aggregated discovery. Yields to the event loop if it is large. Rejects with an Error if it
 * is malformed. Upstream: apiserver/pkg/endpoints/installer.go (ConvertGroupVersionIntoToDiscovery).
 */
export async function classicResources(body: Buffer): Promise<ApiResourceDiscovery[]> {
  const { resources = [] } = await typed<{ resources?: ApiResource[] }>('meta_v1.APIResourceList', body);
  return workOn(body.length, discoveredResources(resources));
}

function* discoveredResources(resources: readonly ApiResource[]): Steps<ApiResourceDiscovery[]> {
  const subresources = new Map<string, ApiSubresourceDiscovery[]>();
  for (const [i, resource] of resources.entries()) {
    if (i % itemsOfStep === 0) yield;
    const [parent = '', name] = resource.name.split('/', 2);
    if (name === undefined) continue;
    const siblings = subresources.get(parent) ?? [];
    subresources.set(parent, siblings);
    siblings.push({ subresource: name, responseKind: kindOf(resource), verbs: resource.verbs });
  }
  const discovered: ApiResourceDiscovery[] = [];
  for (const [i, resource] of resources.entries()) {
    if (i % itemsOfStep === 0) yield;
    const { name, namespaced, singularName, verbs, shortNames, categories } = resource;
    if (name.includes('/')) continue;
    const own = subresources.get(name);
    discovered.push({
      resource: name,
      responseKind: kindOf(resource),
      scope: namespaced ? 'Namespaced' : 'Cluster',
      singularResource: singularName,
      verbs,
      ...(shortNames && { shortNames }),
      ...(categories && { categories }),
      ...(own && { subresources: own }),
    });
  }
  return discovered;
}

/** Returns the kind of a resource; an absent group or version stays empty. */
function kindOf({ group = '', version = '', kind }: ApiResource) {
  return { group, version, kind };
}

/** Number of values in a document that is parsed, which takes some seconds. A resource has about ten. */
const maxValues = 500_000;

/** Throws an Error for a document of so many values that other work would wait for it for minutes. */
export function expectFew(body: Buffer, most = maxValues): void {
  let values = 1;
  for (let at = body.indexOf(','); at >= 0; at = body.indexOf(',', at + 1)) {
    if (++values > most) throw new Error(`the document has more than ${most} values`);
  }
}

/** Decodes a document like Go: members of the wrong type are rejected, unknown ones dropped, and all are in the order of their struct. */
async function typed<T>(type: string, body: Buffer): Promise<T> {
  expectFew(body);
  const struct = metaSchema.struct(type);
  return (await workOn(body.length, typedSteps(struct, body))) as T;
}

function* typedSteps(struct: StructType, body: Buffer): Steps<unknown> {
  const { value } = yield* parseJsonSteps(body);
  const { object } = yield* decodeSteps(struct, value, { strict: false });
  return (yield* parseJsonSteps(yield* encodeLineSteps(struct, object))).value;
}
