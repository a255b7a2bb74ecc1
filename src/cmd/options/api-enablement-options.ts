import type { GroupVersionResource } from '#apimachinery/meta/types';
import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { type KnownVersions, ResourceConfig, resourceConfigErrors } from '#apiserver/server/resource-config';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { groupsWithRemovedApis } from '#kubernetes/apis/removed-apis';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import { Flag } from './flag.ts';

/**
 * Versions that upstream's scheme still registers but no server serves: naming them is valid and has no effect. Upstream:
 * kubernetes/pkg/apis/<group>/install.
 */
const retired: Readonly<Record<string, readonly string[]>> = {
  'admission.k8s.io': ['v1', 'v1beta1'],
  'imagepolicy.k8s.io': ['v1alpha1'],
  extensions: ['v1beta1'],
  apps: ['v1beta1', 'v1beta2'],
  'authentication.k8s.io': ['v1beta1', 'v1alpha1'],
  'authorization.k8s.io': ['v1beta1'],
  batch: ['v1beta1'],
  'discovery.k8s.io': ['v1beta1'],
  'events.k8s.io': ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1beta3', 'v1beta2', 'v1beta1'],
  'node.k8s.io': ['v1beta1', 'v1alpha1'],
  'rbac.authorization.k8s.io': ['v1beta1', 'v1alpha1'],
  'scheduling.k8s.io': ['v1beta1'],
  'storage.k8s.io': ['v1alpha1'],
  'apiextensions.k8s.io': ['v1beta1'],
  'apiregistration.k8s.io': ['v1beta1'],
};

type Contributed = Pick<ContributedGroupOptions, 'group' | 'resources'>;

function knownVersions(contributed: readonly Contributed[]): KnownVersions {
  const versionsOf = (group: string): readonly string[] | undefined => {
    const added = contributed.find((one) => one.group === group);
    if (added) return added.resources.flatMap(({ versions }) => versions.map(({ name }) => name));
    return groupNamed(group)?.versions.map(({ version }) => version);
  };
  return {
    hasGroup: (group) => Object.hasOwn(retired, group) || versionsOf(group) !== undefined,
    hasVersion: ({ group, version }) =>
      versionsOf(group)?.includes(version) === true || (Object.hasOwn(retired, group) && retired[group]?.includes(version) === true),
  };
}

function groupNamed(name: string): { readonly versions: readonly { readonly version: string }[] } | undefined {
  return [...groupsWithRemovedApis, apiExtensionsGroup, apiRegistrationGroup].find(({ group }) => group === name);
}

/** Selects the served APIs, except custom resources. Upstream: apiserver/pkg/server/options/api_enablement.go. */
export class ApiEnablementOptions {
  @Flag('runtime-config')
  runtimeConfig: ReadonlyMap<string, string> = new Map();

  resourceConfig(): ResourceConfig {
    return new ResourceConfig(withoutLegacyKeys(this.runtimeConfig));
  }

  isEnabled(resource: GroupVersionResource): boolean {
    return this.resourceConfig().isEnabled(resource);
  }

  /** Validation errors of the options. `contributed`: the groups that packages add. */
  errors(contributed: readonly Contributed[]): string[] {
    return resourceConfigErrors(withoutLegacyKeys(this.runtimeConfig), knownVersions(contributed));
  }
}

/**
 * Replaces the keys of the core group (`v1`, `api/v1`) by `/v1` and drops `api/legacy`, which no longer has a meaning. As upstream, a
 * resource after these two keys selects the whole version. Upstream: kubernetes/pkg/controlplane/apiserver/options/options.go (Complete).
 */
function withoutLegacyKeys(runtimeConfig: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    [...runtimeConfig].filter(([key]) => key !== 'api/legacy').map(([key, value]) => [coreKey.test(key) ? '/v1' : key, value]),
  );
}

const coreKey = /^(?:api\/)?v1(?:\/|$)/;
