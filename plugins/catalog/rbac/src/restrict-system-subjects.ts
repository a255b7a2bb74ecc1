import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { ClusterRoleBinding } from 'kubenest/types/rbac_v1';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
import { addedSubjects, bindings } from './roles.ts';

export class RestrictSystemSubjectsConfiguration {
  /** Users and groups that bindings must not have as subjects. */
  @IsSomeTexts()
  subjects: string[] = ['system:anonymous', 'system:unauthenticated', 'system:masters'];
}

/** Denies bindings to unauthenticated clients and to groups that have all permissions anyway. */
@AdmissionPlugin({ name: 'RestrictSystemSubjects', configuration: RestrictSystemSubjectsConfiguration, match: bindings })
export class RestrictSystemSubjects {
  readonly #isRestricted: Matcher;

  constructor(@inject(Configuration) { subjects }: RestrictSystemSubjectsConfiguration) {
    this.#isRestricted = matcherOf(subjects);
  }

  validate(request: Attributes<ClusterRoleBinding>): void {
    const wrong = addedSubjects(request).filter(({ kind, name }) => kind !== 'ServiceAccount' && this.#isRestricted(name));
    denyFor(
      request,
      wrong.map(({ kind, name }) => `${kind} ${name} must not be a subject`),
    );
  }
}
