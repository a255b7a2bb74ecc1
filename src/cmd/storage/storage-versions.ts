import { type GroupResource, groupVersionString } from '#apimachinery/meta/types';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';
import { compareKubeAwareVersions } from '#apiserver/endpoints/discovery/kube-aware-version';
import type { StoredResource } from '#kubernetes/controlplane/storage-versions';
import { unservedVersionsOf } from './object-forms.ts';

/**
 * Returns the built-in resources that are served and stored. Resources with the same storage path are combined under the first of their
 * names. Decodable versions are those that this server can read; kube-apiserver's scheme has some more removed versions.
 */
export function storedResources(scheme: Scheme): StoredResource[] {
  const served = scheme.groups.flatMap(({ resources }) => resources).filter(isStored);
  const places = Map.groupBy(served, ({ storagePath }) => storagePath);
  return [...places.values()].map((definitions) => storedResource(scheme, definitions));
}

const isStored = ({ storagePath }: ResourceDefinition): boolean => storagePath !== undefined;

function storedResource(scheme: Scheme, definitions: readonly ResourceDefinition[]): StoredResource {
  const [first, ...others] = definitions.toSorted(byGroupAndVersion) as [ResourceDefinition, ...ResourceDefinition[]];
  const { group, resource, kind } = first;
  const isSame = (one: GroupResource): boolean => one.group === group && one.resource === resource;
  const known = scheme.known.flatMap(({ resources }) => resources).filter(isSame);
  const own = [...known.map(({ version }) => version), ...unservedVersionsOf({ group, kind })].toSorted(compareKubeAwareVersions);
  const decodable = new Set([...own.map((version) => groupVersionString({ group, version })), ...others.map(groupVersionString)]);
  const equivalents = new Map(definitions.map((one) => [one.group, { group: one.group, resource: one.resource }]));
  return {
    group,
    resource,
    encodingVersion: groupVersionString(first.storageVersion?.version ?? first),
    decodableVersions: [...decodable],
    servedVersions: [first, ...others].filter(isSame).map(groupVersionString),
    equivalents: [...equivalents.values()],
  };
}

function byGroupAndVersion(a: ResourceDefinition, b: ResourceDefinition): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  return compareKubeAwareVersions(a.version, b.version);
}
