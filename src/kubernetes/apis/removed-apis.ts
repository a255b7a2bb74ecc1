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

/** The built-in groups, and the APIs that Kubernetes has no more of those admission plugins (by name) that cannot do without. */
export function groupsFor(admissionPlugins: readonly string[]): readonly ApiGroup[] {
  const present = admissionPlugins.includes('PodSecurityPolicy')
    ? groups.map((group) => (group === policyGroup ? policyGroupWithPodSecurityPolicies : group))
    : groups;
  return admissionPlugins.includes('PodPreset') ? [...present, settingsGroup] : present;
}

/** All of them: what may be stored, whichever plugins are on. */
export const groupsWithRemovedApis: readonly ApiGroup[] = groupsFor(['PodPreset', 'PodSecurityPolicy']);
