import type { ApiGroup } from '#apiserver/registry/api-group';
import { groups } from './groups.ts';
import { policyGroup } from './policy/group.ts';
import podsecuritypolicies from './policy/v1beta1/podsecuritypolicies.ts';
import { settingsGroup } from './settings/group.ts';

const policyGroupWithPodSecurityPolicies: ApiGroup = {
  ...policyGroup,
  versions: [...policyGroup.versions, { version: 'v1beta1', versionPriority: 9 }],
  resources: [...policyGroup.resources, podsecuritypolicies],
};

/** Returns the built-in groups, and the removed APIs that the given admission plugins (by name) need. */
export function groupsFor(admissionPlugins: readonly string[]): readonly ApiGroup[] {
  const present = admissionPlugins.includes('PodSecurityPolicy')
    ? groups.map((group) => (group === policyGroup ? policyGroupWithPodSecurityPolicies : group))
    : groups;
  return admissionPlugins.includes('PodPreset') ? [...present, settingsGroup] : present;
}

/** All groups that may be stored, regardless of the admission plugins that are on. */
export const groupsWithRemovedApis: readonly ApiGroup[] = groupsFor(['PodPreset', 'PodSecurityPolicy']);
