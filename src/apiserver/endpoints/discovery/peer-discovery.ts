import { deepEqual } from '#apimachinery/runtime/equality';
import type { ApiResourceDiscovery, ApiVersionDiscovery, GroupDiscovery, ServerDiscovery } from './aggregated-form.ts';

/**
 * Merges the groups, versions and resources of the servers of a cluster, whose relative order stays the same. A resource that servers serve
 * differently has the verbs and subresources of all. Upstream: endpoints/discovery/aggregated/peer_aggregated_handler.go.
 */
export function mergeDiscovery(servers: readonly ServerDiscovery[]): readonly GroupDiscovery[] {
  const sorted = servers.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ groups }) => groups);
  return mergeLists(sorted, ({ metadata }) => metadata.name ?? '', mergeGroups);
}

const mergeGroups = (a: GroupDiscovery, b: GroupDiscovery): GroupDiscovery => ({
  ...a,
  versions: mergeLists([a.versions, b.versions], ({ version }) => version, mergeVersions),
});

const mergeVersions = (a: ApiVersionDiscovery, b: ApiVersionDiscovery): ApiVersionDiscovery => ({
  ...a,
  resources: mergeLists([a.resources ?? [], b.resources ?? []], ({ resource }) => resource, mergeResources),
});

function mergeResources(a: ApiResourceDiscovery, b: ApiResourceDiscovery): ApiResourceDiscovery {
  if (deepEqual(a, b)) return a;
  const subresources = new Map([...(a.subresources ?? []), ...(b.subresources ?? [])].map((one) => [one.subresource, one]));
  return {
    ...a,
    verbs: [...new Set([...a.verbs, ...b.verbs])].sort(),
    ...(subresources.size > 0 && { subresources: [...subresources.keys()].sort().map((name) => subresources.get(name)!) }),
  };
}

/** Merges lists of named items; `merge` combines items of the same name. */
function mergeLists<T>(lists: readonly (readonly T[])[], nameOf: (item: T) => string, merge: (a: T, b: T) => T): T[] {
  const items = new Map<string, T>();
  for (const item of lists.flat()) {
    const name = nameOf(item);
    const present = items.get(name);
    items.set(name, present === undefined ? item : merge(present, item));
  }
  return mergeOrder(lists.map((list) => list.map(nameOf))).map((name) => items.get(name)!);
}

/**
 * Returns all names in an order that keeps the order of each list; names without an order among them are sorted, as are all names if the
 * lists contradict each other. Upstream: apimachinery/pkg/util/sort (MergePreservingRelativeOrder).
 */
export function mergeOrder(lists: readonly (readonly string[])[]): readonly string[] {
  const followers = new Map<string, Set<string>>();
  for (const list of lists) for (const name of list) followers.set(name, followers.get(name) ?? new Set());
  const complete = lists.find((list) => list.length === followers.size);
  if (complete) return complete;
  for (const list of lists) for (const [i, name] of list.slice(1).entries()) followers.get(list[i]!)!.add(name);
  const predecessors = new Map<string, number>();
  for (const names of followers.values()) for (const name of names) predecessors.set(name, (predecessors.get(name) ?? 0) + 1);
  const free = [...followers.keys()].filter((name) => !predecessors.has(name));
  const order: string[] = [];
  while (free.length > 0) {
    const name = free.sort().shift()!;
    order.push(name);
    for (const next of followers.get(name)!) {
      const left = predecessors.get(next)! - 1;
      predecessors.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  return order.length === followers.size ? order : [...followers.keys()].sort();
}
