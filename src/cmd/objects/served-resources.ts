import { parseGroupVersion } from '#apimachinery/meta/types';

/** A resource that discovery lists, without its subresources. */
export interface ServedResource {
  /** Plural name in paths. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  /** Returns the path of the collection, in the namespace if the resource is namespaced. */
  collection(namespace: string): string;
}

interface ListedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Returns the discovery path of a version: `/api/v1`, `/apis/apps/v1`. */
export function discoveryPath(apiVersion: string): string {
  const { group, version } = parseGroupVersion(apiVersion);
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Returns the resources of a version from its discovery document, an APIResourceList. */
export function servedResources(apiVersion: string, discovery: string): ServedResource[] {
  const root = discoveryPath(apiVersion);
  const { resources } = JSON.parse(discovery) as { readonly resources: readonly ListedResource[] };
  const names = new Set(resources.map(({ name }) => name));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced }) => ({
      name,
      kind,
      namespaced,
      hasStatus: names.has(`${name}/status`),
      collection: (namespace) => (namespaced ? `${root}/namespaces/${namespace}/${name}` : `${root}/${name}`),
    }));
}
