import { formatCIDR, formatIP, parseCIDRSloppy } from '#apimachinery/validation/ip';
import { Check, Flag } from './flag.ts';

/** The longest prefixes are 12 and 108: twenty bits of addresses. */
const largestBits = 20;

/** Addresses of services. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class ServiceOptions {
  @Flag('service-cluster-ip-range')
  @Check<ServiceOptions>((range: string) => {
    if (range.includes(',')) return '--service-cluster-ip-range with two ranges is not implemented yet';
    const cidr = parseCIDRSloppy(range);
    if (!cidr) return `--service-cluster-ip-range ${JSON.stringify(range)} must be a CIDR such as 10.0.0.0/24`;
    const bits = cidr.bytes.length * 8;
    if (bits - cidr.prefix > largestBits)
      return `specified --service-cluster-ip-range is too large; for ${bits}-bit addresses, the mask must be >= ${bits - largestBits}`;
    if (bits - cidr.prefix < 3) return '--service-cluster-ip-range must hold at least 8 addresses';
    return undefined;
  })
  serviceClusterIpRange = '10.0.0.0/24';

  /** The address of the kubernetes service: the first of the range. */
  firstServiceIp(): string {
    const range = parseCIDRSloppy(this.serviceClusterIpRange);
    const network = range && parseCIDRSloppy(formatCIDR(range));
    if (!network) throw new Error(`${this.serviceClusterIpRange} is no CIDR`);
    const bytes = [...network.bytes];
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) + 1;
    return formatIP({ bytes });
  }
}
