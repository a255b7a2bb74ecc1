import { AdmissionPlugin, type Attributes, Configuration, inject, workloads } from 'kubenest/sdk';
import { IsArray, IsInt, Max, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { denyContainers } from '../../common/deny.ts';

export class PortRange {
  @IsInt()
  @Min(1)
  @Max(65_535)
  from = 0;
  @IsInt()
  @Min(1)
  @Max(65_535)
  to = 0;
}
export class AllowedHostPortsConfiguration {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PortRange)
  ranges: PortRange[] = [];
}

/** Denies ports of the node outside of the allowed ranges. With `hostNetwork`, the ports of containers are those of the node. */
@AdmissionPlugin({ name: 'AllowedHostPorts', configuration: AllowedHostPortsConfiguration, match: workloads })
export class AllowedHostPorts {
  constructor(@inject(Configuration) private readonly configuration: AllowedHostPortsConfiguration) {}

  validate(request: Attributes): void {
    denyContainers(request, 'ports', ({ container: { ports = [] } }) => {
      // Defaulting sets the host ports of pods in the network of the node.
      const port = ports.map(({ hostPort = 0 }) => hostPort).find((one) => one !== 0 && !this.#isAllowed(one));
      return port === undefined ? undefined : `host port ${port} is not allowed`;
    });
  }

  #isAllowed(port: number): boolean {
    return this.configuration.ranges.some(({ from, to }) => from <= port && port <= to);
  }
}
