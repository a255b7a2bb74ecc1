import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { type KnownVersions, resourceConfigErrors } from '#apiserver/server/resource-config';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { groupsWithRemovedApis } from '#kubernetes/apis/removed-apis';
import { Check, Flag } from './flag.ts';

/**
 * Versions that upstream's scheme still has and no server serves any more: naming them is no mistake, and changes nothing.
 * Upstream: kubernetes/pkg/apis/<group>/install.
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

const known: KnownVersions = {
  hasGroup: (group) => Object.hasOwn(retired, group) || groupNamed(group) !== undefined,
  hasVersion: ({ group, version }) =>
    groupNamed(group)?.versions.some((one) => one.version === version) === true ||
    (Object.hasOwn(retired, group) && retired[group]?.includes(version) === true),
};

function groupNamed(name: string): { readonly versions: readonly { readonly version: string }[] } | undefined {
  return [...groupsWithRemovedApis, apiExtensionsGroup, apiRegistrationGroup].find(({ group }) => group === name);
}

/** Which of the built-in APIs are served. Upstream: apiserver/pkg/server/options/api_enablement.go. */
export class ApiEnablementOptions {
  @Flag('runtime-config')
  @Check<ApiEnablementOptions>((overrides: ReadonlyMap<string, string>) => resourceConfigErrors(overrides, known))
  runtimeConfig: ReadonlyMap<string, string> = new Map();
}
