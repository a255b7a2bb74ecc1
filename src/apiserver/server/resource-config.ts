import type { GroupVersion, GroupVersionResource } from '#apimachinery/meta/types';
import { groupVersionString, parseGroupVersion } from '#apimachinery/meta/types';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { FeatureGates } from '#apiserver/base/feature-gates';

/** Keys that match many versions. If several match a version, the later one in this list takes precedence. */
const matchers: readonly (readonly [key: string, pattern: RegExp])[] = [
  ['api/all', /^/],
  ['api/ga', /^v\d+$/],
  ['api/beta', /^v\d+beta\d+$/],
  ['api/alpha', /^v\d+alpha\d+$/],
];
const isMatcher = (key: string): boolean => matchers.some(([name]) => name === key);
const stable = /^v\d+$/;
const booleans: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['', '1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false])),
};

/** Known groups and versions, served or not. */
export interface KnownVersions {
  hasGroup(group: string): boolean;
  hasVersion(groupVersion: GroupVersion): boolean;
}

/**
 * Selects the enabled built-in APIs. Only stable versions are enabled by default; `overrides` change that:
 *
 * | key                    | applies to                         |
 * | ---------------------- | ---------------------------------- |
 * | group/version/resource | this resource; highest precedence  |
 * | group/version          | this version                       |
 * | api/ga, /beta, /alpha  | all versions of that maturity      |
 * | api/all                | all versions                       |
 *
 * Upstream: apiserver/pkg/server/storage/resource_config.go, apiserver/pkg/server/resourceconfig/helpers.go.
 */
export class ResourceConfig {
  constructor(readonly overrides: ReadonlyMap<string, string> = new Map()) {}

  isEnabled(resource: GroupVersionResource & Pick<ResourceDefinition, 'servedByDefault'>): boolean {
    const version = groupVersionString(resource);
    // The core group's version has a slash before it here.
    const key = resource.group === '' ? `/${version}` : version;
    return this.#own(`${key}/${resource.resource}`) ?? this.#own(key) ?? this.#matching(resource.version) ?? isOnByDefault(resource);
  }

  #own(key: string): boolean | undefined {
    const text = this.overrides.get(key);
    return text === undefined ? undefined : booleans[text];
  }

  #matching(version: string): boolean | undefined {
    let enabled: boolean | undefined;
    for (const [key, pattern] of matchers) {
      const text = this.overrides.get(key);
      if (text !== undefined && pattern.test(version)) enabled = text === 'true';
    }
    return enabled;
  }

  /** Returns the enabled resources of the groups, considering feature gates. */
  served(groups: readonly ApiGroup[], features: FeatureGates): ApiGroup[] {
    return selected(
      groups,
      (resource) => this.isEnabled(resource) && (resource.featureGate === undefined || features.enabled(resource.featureGate)),
    );
  }

  /** Returns the resources that are enabled by default but disabled by overrides. */
  switchedOff(groups: readonly ApiGroup[]): ApiGroup[] {
    return selected(groups, (resource) => isOnByDefault(resource) && !this.isEnabled(resource));
  }
}

function isOnByDefault({ version, servedByDefault = false }: Pick<ResourceDefinition, 'version' | 'servedByDefault'>): boolean {
  return servedByDefault || stable.test(version);
}

/** Returns the groups with the wanted resources and their versions, without groups that have none. */
function selected(groups: readonly ApiGroup[], isWanted: (resource: ResourceDefinition) => boolean): ApiGroup[] {
  return groups.flatMap((group) => {
    const resources = group.resources.filter(isWanted);
    if (resources.length === group.resources.length) return group;
    const versions = group.versions.filter(({ version }) => resources.some((resource) => resource.version === version));
    return versions.length === 0 ? [] : { ...group, versions, resources };
  });
}

/** Returns the errors of overrides in upstream's words. Upstream: apiserver/pkg/server/options/api_enablement.go. */
export function resourceConfigErrors(overrides: ReadonlyMap<string, string>, known: KnownVersions): string[] {
  if (overrides.get('api/all') === 'false' && overrides.size === 1) return ['invalid runtime-config with only api/all=false'];
  const own = [...overrides.keys()].filter((key) => !isMatcher(key));
  const misshapen = own.find((key) => ![2, 3].includes(key.split('/').length));
  if (misshapen !== undefined) return [`runtime-config invalid key ${misshapen}`];
  const unknown = own.map(versionOf).filter(({ group }) => !known.hasGroup(group));
  if (unknown.length > 0) return [`unknown api groups ${[...new Set(unknown.map(groupVersionString))].sort().join(',')}`];
  return [...overrides].flatMap(([key, text]) => overrideErrors(key, text, known));
}

function versionOf(key: string): GroupVersion {
  return parseGroupVersion(key.split('/', 2).join('/').replace(/^\//, ''));
}

function overrideErrors(key: string, text: string, known: KnownVersions): string[] {
  if (isMatcher(key)) return text === 'true' || text === 'false' ? [] : [`invalid value ${key}=${text}`];
  const version = versionOf(key);
  if (!known.hasVersion(version)) return [`group version ${groupVersionString(version)} that has not been registered`];
  if (!Object.hasOwn(booleans, text))
    return [`invalid value of ${key}: ${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`];
  const resource = key.split('/')[2] ?? '';
  if (resource !== resource.toLowerCase()) {
    const rule = 'group/version/resource and resource is always lowercase plural';
    return [`invalid key ${key}: ${rule}, not ${JSON.stringify(resource)}`];
  }
  return [];
}
