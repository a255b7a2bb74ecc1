import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, ArrayUnique, IsArray, IsIn } from 'kubenest/sdk/configuration';
import { denyContainers } from '../../common/deny.ts';
import { longRunning } from './pod-makers.ts';

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export class RequiredProbesConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(probes, { each: true })
  probes: (typeof probes)[number][] = ['livenessProbe', 'readinessProbe'];
}

/** Denies deployments, stateful sets and daemon sets whose containers and sidecars have no probes. */
@AdmissionPlugin({ name: 'RequiredProbes', configuration: RequiredProbesConfiguration, match: longRunning })
export class RequiredProbes {
  constructor(@inject(Configuration) private readonly configuration: RequiredProbesConfiguration) {}

  validate(request: Attributes): void {
    for (const probe of this.configuration.probes)
      denyContainers(request, probe, ({ container, sort }) => {
        const isRunning = sort === 'container' || (sort === 'init container' && container.restartPolicy === 'Always');
        return isRunning && !container[probe] ? 'required' : undefined;
      });
  }
}
