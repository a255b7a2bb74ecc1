import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { ClusterRole, PolicyRule } from 'kubenest/types/rbac_v1';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { quoted } from '../../common/patterns.ts';
import { changedRules, roles } from './roles.ts';

export class RestrictEscalationVerbsConfiguration {
  @IsSomeTexts()
  verbs: string[] = ['escalate', 'bind', 'impersonate'];
}

const rbac = 'rbac.authorization.k8s.io';
const authentication = 'authentication.k8s.io';

/** Resources, as GROUP/RESOURCE, on which a verb has an effect. Other verbs are taken to have one on all resources. */
const targets: Readonly<Record<string, readonly string[]>> = {
  escalate: [`${rbac}/roles`, `${rbac}/clusterroles`],
  bind: [`${rbac}/roles`, `${rbac}/clusterroles`],
  impersonate: ['/users', '/groups', '/serviceaccounts', `${authentication}/uids`, `${authentication}/userextras`],
};

/**
 * Denies roles with verbs by which a user obtains further permissions. The wildcard `*` includes those that the resources of its rule have.
 */
@AdmissionPlugin({ name: 'RestrictEscalationVerbs', configuration: RestrictEscalationVerbsConfiguration, match: roles })
export class RestrictEscalationVerbs {
  constructor(@inject(Configuration) private readonly configuration: RestrictEscalationVerbsConfiguration) {}

  validate(request: Attributes<ClusterRole>): void {
    const forbidden = new Set(this.configuration.verbs);
    const problems = changedRules(request).flatMap(({ rule, path }) => {
      if (!rule.resources?.length) return [];
      const found = (rule.verbs ?? []).filter((verb) => (verb === '*' ? isAnyOf(forbidden, rule) : forbidden.has(verb)));
      return found.length > 0 ? [`${path}.verbs: must not have ${quoted(found)}`] : [];
    });
    denyFor(request, problems);
  }
}

/** True if one of the verbs has an effect on the resources of a rule. */
function isAnyOf(verbs: ReadonlySet<string>, { apiGroups = [], resources = [] }: PolicyRule): boolean {
  const hasTarget = (target: string): boolean => {
    const [group = '', resource = ''] = target.split('/');
    return (
      [group, '*'].some((name) => apiGroups.includes(name)) && resources.some((name) => name === '*' || name.split('/')[0] === resource)
    );
  };
  return [...verbs].some((verb) => verb === '*' || targets[verb]?.some(hasTarget) !== false);
}
