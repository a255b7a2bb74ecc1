import { AdmissionPlugin, type Attributes, changedPodTemplate, Configuration, inject, workloads } from 'kubenest/sdk';
import { IsTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class AllowedSysctlsConfiguration {
  /** Sysctls that pods may set, such as `net.ipv4.*`. */
  @IsTexts()
  allowed: string[] = [];
}

/** Denies pods that set other sysctls than the allowed ones. */
@AdmissionPlugin({ name: 'AllowedSysctls', configuration: AllowedSysctlsConfiguration, match: workloads })
export class AllowedSysctls {
  readonly #isAllowed: Matcher;

  constructor(@inject(Configuration) { allowed }: AllowedSysctlsConfiguration) {
    this.#isAllowed = matcherOf(allowed);
  }

  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    const names = (template?.spec.securityContext?.sysctls ?? []).map(({ name = '' }) => name).filter((name) => !this.#isAllowed(name));
    denyFor(
      request,
      names.map((name) => `${template?.path}.securityContext.sysctls: "${name}" is not allowed`),
    );
  }
}
