import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { ClusterRole } from 'kubenest/types/rbac_v1';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { quoted } from '../../common/patterns.ts';
import { changedRules, roles } from './roles.ts';

export class RestrictEscalationVerbsConfiguration {
  @IsSomeTexts()
  verbs: string[] = ['escalate', 'bind', 'impersonate'];
}

/** Denies roles with verbs by which a user obtains further permissions. The wildcard `*` includes them. */
@AdmissionPlugin({ name: 'RestrictEscalationVerbs', configuration: RestrictEscalationVerbsConfiguration, match: roles })
export class RestrictEscalationVerbs {
  constructor(@inject(Configuration) private readonly configuration: RestrictEscalationVerbsConfiguration) {}

  validate(request: Attributes<ClusterRole>): void {
    const forbidden = new Set([...this.configuration.verbs, '*']);
    const problems = changedRules(request).flatMap(({ rule: { verbs = [], resources = [] }, path }) => {
      const found = resources.length === 0 ? [] : verbs.filter((verb) => forbidden.has(verb));
      return found.length > 0 ? [`${path}.verbs: must not have ${quoted(found)}`] : [];
    });
    denyFor(request, problems);
  }
}
