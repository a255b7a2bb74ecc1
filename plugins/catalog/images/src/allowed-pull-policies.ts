import { AdmissionPlugin, type Attributes, Configuration, inject, workloads } from 'kubenest/sdk';
import { ArrayNotEmpty, ArrayUnique, IsArray, IsIn } from 'kubenest/sdk/configuration';
import { denyContainers } from '../../common/deny.ts';
import { quoted } from '../../common/patterns.ts';

export class AllowedPullPoliciesConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(['Always', 'IfNotPresent', 'Never'], { each: true })
  policies: string[] = ['Always'];
}

/** Denies containers with other pull policies. `Always` checks the credentials of each pod for images that are on its node already. */
@AdmissionPlugin({ name: 'AllowedPullPolicies', configuration: AllowedPullPoliciesConfiguration, match: workloads })
export class AllowedPullPolicies {
  constructor(@inject(Configuration) private readonly configuration: AllowedPullPoliciesConfiguration) {}

  validate(request: Attributes): void {
    const { policies } = this.configuration;
    denyContainers(request, 'imagePullPolicy', ({ container: { imagePullPolicy = '' } }) =>
      policies.includes(imagePullPolicy) ? undefined : `is "${imagePullPolicy}", expected ${quoted(policies)}`,
    );
  }
}
