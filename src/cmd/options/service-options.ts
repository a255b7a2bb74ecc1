import { Max, Min } from 'class-validator';
import { type Cidr, formatCIDR, formatIP, parseCIDRSloppy } from '#apimachinery/validation/ip';
import type { ControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import type { PortRange } from '#kubernetes/controlplane/services/port-bitmap';
import { Check, Flag } from './flag.ts';

/** Upstream's allocators hold so many bits of addresses: the longest prefixes are 12 and 108. */
const largestBits = 20;
const reconcilers = ['lease', 'none', 'master-count'];
const nodePortMessage =
  '--kubernetes-service-node-port $value must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP';

/** Addresses and ports of services, the kubernetes Service among them. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class ServiceOptions {
  /** One range, or two of both families. */
  @Flag('service-cluster-ip-range')
  @Check<ServiceOptions>((text: string) => {
    const ranges = text.split(',');
    if (ranges.length > 2) return '--service-cluster-ip-range must not hold more than two values';
    const cidrs = ranges.map((range) => parseCIDRSloppy(range.trim()));
    if (cidrs.length === 2 && cidrs[0]?.bytes.length === cidrs[1]?.bytes.length)
      return '--service-cluster-ip-range must hold values of different families';
    return cidrs.flatMap((cidr, i) =>
      cidr ? sizeProblems(cidr) : `--service-cluster-ip-range ${JSON.stringify(ranges[i])} must be a CIDR such as 10.0.0.0/24`,
    );
  })
  serviceClusterIpRange = '10.0.0.0/24';

  @Flag('enable-aggregator-routing')
  enableAggregatorRouting = false;

  @Flag('service-node-port-range')
  @Check<ServiceOptions>((text: string, { kubernetesServiceNodePort: port }) => {
    const range = parsePortRange(text);
    if (!range) return `--service-node-port-range ${JSON.stringify(text)} must be of the form 30000-32767 or 30000+2767`;
    const holdsPort = port === 0 || (port >= range.base && port < range.base + range.size);
    return holdsPort ? undefined : `kubernetes service node port range ${text} doesn't contain ${port}`;
  })
  serviceNodePortRange = '30000-32767';

  @Flag('kubernetes-service-node-port')
  @Min(0, { message: nodePortMessage })
  @Max(65_535, { message: nodePortMessage })
  kubernetesServiceNodePort = 0;

  /** Empty: found out by the bind address. */
  @Flag('advertise-address')
  advertiseAddress = '';

  @Flag('endpoint-reconciler-type')
  @Check<ServiceOptions>((type: string) => {
    if (reconcilers.includes(type)) return undefined;
    return `--endpoint-reconciler-type ${JSON.stringify(type)} is unknown, it must be lease, none or master-count`;
  })
  endpointReconcilerType: ControlPlaneOptions['endpointReconcilerType'] = 'lease';

  /** How many servers there are, for `--endpoint-reconciler-type=master-count`. */
  @Flag('apiserver-count')
  @Min(1, { message: '--apiserver-count should be a positive number, but value $value provided' })
  apiserverCount = 1;

  /** The address of the kubernetes service: the first of the first range. */
  firstServiceIp(): string {
    const [first = ''] = this.serviceClusterIpRange.split(',');
    const range = parseCIDRSloppy(first);
    const network = range && parseCIDRSloppy(formatCIDR(range));
    if (!network) throw new Error(`${first} is no CIDR`);
    const bytes = [...network.bytes];
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) + 1;
    return formatIP({ bytes });
  }
}

function sizeProblems({ bytes, prefix }: Cidr): string[] {
  const bits = bytes.length * 8;
  if (bits - prefix > largestBits)
    return [`specified --service-cluster-ip-range is too large; for ${bits}-bit addresses, the mask must be >= ${bits - largestBits}`];
  return bits - prefix < 3 ? ['--service-cluster-ip-range must hold at least 8 addresses'] : [];
}

/** `30000-32767` or `30000+2767`; undefined for what is no range of ports. Upstream: apimachinery/pkg/util/net/port_range.go. */
export function parsePortRange(text: string): PortRange | undefined {
  const [, from, sign, to] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text.trim()) ?? [];
  if (from === undefined) return undefined;
  const base = Number(from);
  const last = sign === undefined ? base : Number(to) + (sign === '+' ? base : 0);
  return last >= base && last <= 65_535 ? { base, size: last - base + 1 } : undefined;
}
