import { AdmissionPlugin, type Attributes, changedPodTemplate, Configuration, deny, inject, workloads } from 'kubenest/sdk';
import { IsBoolean } from 'kubenest/sdk/configuration';
import { IsTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class AllowedPriorityClassesConfiguration {
  @IsTexts()
  allowed: string[] = [];
  /** True if a pod must name a class. */
  @IsBoolean()
  isRequired = false;
}

/** Denies pods of other priority classes than the allowed ones, which must include the default class of the cluster if there is one. */
@AdmissionPlugin({ name: 'AllowedPriorityClasses', configuration: AllowedPriorityClassesConfiguration, match: workloads })
export class AllowedPriorityClasses {
  readonly #isAllowed: Matcher;
  readonly #isRequired: boolean;

  constructor(@inject(Configuration) { allowed, isRequired }: AllowedPriorityClassesConfiguration) {
    this.#isAllowed = matcherOf(allowed);
    this.#isRequired = isRequired;
  }

  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    if (!template) return;
    const { priorityClassName: name } = template.spec;
    if (!name && this.#isRequired) deny(request, `${template.path}.priorityClassName: required`);
    if (name && !this.#isAllowed(name)) deny(request, `${template.path}.priorityClassName: "${name}" is not allowed`);
  }
}
