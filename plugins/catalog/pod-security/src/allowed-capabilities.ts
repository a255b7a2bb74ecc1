import { AdmissionPlugin, type Attributes, Configuration, inject, workloads } from 'kubenest/sdk';
import { IsTexts } from '../../common/configuration.ts';
import { denyContainers } from '../../common/deny.ts';
import { type Matcher, matcherOf, quoted } from '../../common/patterns.ts';

export class AllowedCapabilitiesConfiguration {
  /** Capabilities that containers may add; `*` in an item stands for any text. */
  @IsTexts()
  allowed: string[] = [];
  /** Capabilities that containers must drop; `drop: [ALL]` of a container drops each. */
  @IsTexts()
  requiredDrop: string[] = [];
}

/** Denies containers that add other capabilities than the allowed ones, or do not drop those that must be dropped. */
@AdmissionPlugin({ name: 'AllowedCapabilities', configuration: AllowedCapabilitiesConfiguration, match: workloads })
export class AllowedCapabilities {
  readonly #isAllowed: Matcher;
  readonly #requiredDrop: readonly string[];

  constructor(@inject(Configuration) { allowed, requiredDrop }: AllowedCapabilitiesConfiguration) {
    this.#isAllowed = matcherOf(allowed);
    this.#requiredDrop = requiredDrop;
  }

  validate(request: Attributes): void {
    denyContainers(request, 'securityContext.capabilities', ({ container: { securityContext } }) => {
      const { add = [], drop = [] } = securityContext?.capabilities ?? {};
      const added = add.filter((name) => !this.#isAllowed(name));
      if (added.length > 0) return `must not add ${quoted(added)}`;
      const kept = drop.includes('ALL') ? [] : this.#requiredDrop.filter((name) => !drop.includes(name));
      return kept.length > 0 ? `must drop ${quoted(kept)}` : undefined;
    });
  }
}
