import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { ClusterRoleBinding } from 'kubenest/types/rbac_v1';
import { IsSomeTexts, IsTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
import { addedSubjects, bindings, userNameOf } from './roles.ts';

export class RestrictClusterAdminConfiguration {
  /** Cluster roles that bindings must not refer to. */
  @IsSomeTexts()
  roles: string[] = ['cluster-admin'];
  /** Users, groups and service accounts (`system:serviceaccount:NAMESPACE:NAME`) to which these roles may be bound. */
  @IsTexts()
  allowedSubjects: string[] = [];
}

/** Denies bindings of cluster-admin and of roles that are as powerful. */
@AdmissionPlugin({ name: 'RestrictClusterAdmin', configuration: RestrictClusterAdminConfiguration, match: bindings })
export class RestrictClusterAdmin {
  readonly #isRestricted: Matcher;
  readonly #isAllowed: Matcher;

  constructor(@inject(Configuration) { roles, allowedSubjects }: RestrictClusterAdminConfiguration) {
    this.#isRestricted = matcherOf(roles);
    this.#isAllowed = matcherOf(allowedSubjects);
  }

  validate(request: Attributes<ClusterRoleBinding>): void {
    const { kind, name = '' } = request.object.roleRef ?? {};
    if (kind !== 'ClusterRole' || !this.#isRestricted(name)) return;
    const wrong = addedSubjects(request).filter((subject) => !this.#isAllowed(userNameOf(subject)));
    denyFor(
      request,
      wrong.map((subject) => `${subject.kind} ${userNameOf(subject)} must not be bound to ClusterRole ${name}`),
    );
  }
}
