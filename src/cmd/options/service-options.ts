import { Max, Min } from 'class-validator';
import { type Cidr, formatCIDR, formatIP, parseCIDRSloppy } from '#apimachinery/validation/ip';
import type { ControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import type { PortRange } from '#kubernetes/controlplane/services/port-bitmap';
import { Check, Flag } from './flag.ts';

/** Maximum number of host bits of a range, as upstream's allocators have it: prefixes are at least 12 (IPv4) and 108 (IPv6) bits long. */
const largestBits = 20;
const reconcilers = ['lease', 'none', 'master-count'];
const nodePortMessage =
  '--kubernetes-service-node-port $value must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP';

/** Addresses and ports of services, including the kubernetes Service. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class ServiceOptions {
  /** One range, or two ranges of different families. */
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

  /** Advertised address. Empty: derived from the bind address. */
  @Flag('advertise-address')
  advertiseAddress = '';

  @Flag('endpoint-reconciler-type')
  @Check<ServiceOptions>((type: string) => {
    if (reconcilers.includes(type)) return undefined;
    return `--endpoint-reconciler-type ${JSON.stringify(type)} is unknown, it must be lease, none or master-count`;
  })
  endpointReconcilerType: ControlPlaneOptions['endpointReconcilerType'] = 'lease';

  /** Number of servers, for `--endpoint-reconciler-type=master-count`. */
  @Flag('apiserver-count')
  @Min(1, { message: '--apiserver-count should be a positive number, but value $value provided' })
  apiserverCount = 1;

  /** Returns the address of the kubernetes service: the first address of the first range. */
  firstServiceIp(): string {
    const [first = ''] = this.serviceClusterIpRange.split(',');
    const range = parseCIDRSloppy(first);
    const network = range && parseCIDRSloppy(formatCIDR(range));
    if (!network) throw new Error(`${first} is not a CIDR`);
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

/** Parses `30000-32767` or `30000+2767`; undefined for an invalid range. Upstream: apimachinery/pkg/util/net/port_range.go. */
export function parsePortRange(text: string): PortRange | undefined {
  const [, from, sign, to] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text.trim()) ?? [];
  if (from === undefined) return undefined;
  const base = Number(from);
  const last = sign === undefined ? base : Number(to) + (sign === '+' ? base : 0);
  return last >= base && last <= 65_535 ? { base, size: last - base + 1 } : undefined;
}
