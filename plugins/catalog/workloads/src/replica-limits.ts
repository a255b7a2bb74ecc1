import { AdmissionPlugin, type Attributes, Configuration, deny, inject } from 'kubenest/sdk';
import { IsInt, IsOptional, Min } from 'kubenest/sdk/configuration';
import { replicasOf, replicated } from './replicas.ts';

export class ReplicaLimitsConfiguration {
  @IsInt()
  @Min(0)
  minimum = 2;
  @IsOptional()
  @IsInt()
  @Min(1)
  maximum?: number;
}

/** Denies deployments and stateful sets with fewer or more replicas, also by their subresource `scale`. Zero replicas are allowed. */
@AdmissionPlugin({
  name: 'ReplicaLimits',
  configuration: ReplicaLimitsConfiguration,
  match: replicated,
})
export class ReplicaLimits {
  constructor(@inject(Configuration) private readonly configuration: ReplicaLimitsConfiguration) {}

  validate(request: Attributes): void {
    const replicas = replicasOf(request.object);
    if (replicas === 0 || (request.oldObject && replicas === replicasOf(request.oldObject))) return;
    const { minimum, maximum } = this.configuration;
    if (replicas < minimum) deny(request, `spec.replicas is ${replicas}, at least ${minimum} are required`);
    if (maximum !== undefined && replicas > maximum) deny(request, `spec.replicas is ${replicas}, at most ${maximum} are allowed`);
  }
}
