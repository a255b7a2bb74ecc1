import { AdmissionPlugin, type Attributes, changedPodTemplate, Configuration, imagesOf, inject, workloads } from 'kubenest/sdk';
import { ArrayNotEmpty, ArrayUnique, IsArray, IsIn } from 'kubenest/sdk/configuration';
import { denyFor } from '../../common/deny.ts';
import { quoted } from '../../common/patterns.ts';

export class AllowedPullPoliciesConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(['Always', 'IfNotPresent', 'Never'], { each: true })
  policies: string[] = ['Always'];
}

/**
 * Denies containers and volumes with other pull policies. `Always` checks the credentials of each pod for images that are on its node
 * already.
 */
@AdmissionPlugin({ name: 'AllowedPullPolicies', configuration: AllowedPullPoliciesConfiguration, match: workloads })
export class AllowedPullPolicies {
  constructor(@inject(Configuration) private readonly configuration: AllowedPullPoliciesConfiguration) {}

  validate(request: Attributes): void {
    const { policies } = this.configuration;
    const template = changedPodTemplate(request);
    const others = (template ? imagesOf(template) : []).filter(({ pullPolicy }) => !policies.includes(pullPolicy));
    denyFor(
      request,
      others.map(({ holder, pullPolicy, sort }) => {
        const field = sort === 'volume' ? 'pullPolicy' : 'imagePullPolicy';
        return `${holder}.${field}: is "${pullPolicy}", expected ${quoted(policies)}`;
      }),
    );
  }
}
