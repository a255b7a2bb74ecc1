import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsIn } from 'kubenest/sdk/configuration';
import type { ClusterRole } from 'kubenest/types/rbac_v1';
import { denyFor } from '../../common/deny.ts';
import { changedRules, roles } from './roles.ts';

const members = ['verbs', 'resources', 'apiGroups', 'nonResourceURLs'] as const;

export class DisallowWildcardRulesConfiguration {
  /** Members of rules in which `*` is not allowed. */
  @IsArray()
  @ArrayNotEmpty()
  @IsIn(members, { each: true })
  members: (typeof members)[number][] = ['verbs', 'resources'];
}

/** Denies rules of roles with the wildcard `*`, which includes later additions to the API. */
@AdmissionPlugin({ name: 'DisallowWildcardRules', configuration: DisallowWildcardRulesConfiguration, match: roles })
export class DisallowWildcardRules {
  constructor(@inject(Configuration) private readonly configuration: DisallowWildcardRulesConfiguration) {}

  validate(request: Attributes<ClusterRole>): void {
    const problems = changedRules(request).flatMap(({ rule, path }) =>
      this.configuration.members
        .filter((member) => rule[member]?.some(isWildcard))
        .map((member) => `${path}.${member}: must not have a wildcard`),
    );
    denyFor(request, problems);
  }
}

/** True for `*`, and for `*\/SUBRESOURCE`, which is a subresource of all resources. */
const isWildcard = (item: string): boolean => item === '*' || item.startsWith('*/');
