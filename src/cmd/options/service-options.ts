import { isIP } from 'node:net';
import { Check, Flag } from './flag.ts';

/** Addresses of services. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class ServiceOptions {
  @Flag('service-cluster-ip-range')
  @Check<ServiceOptions>((range: string) => {
    const ranges = range.split(',');
    if (ranges.length > 1) return '--service-cluster-ip-range with two ranges is not implemented yet';
    const [address = '', bits = ''] = range.split('/');
    const family = isIP(address);
    const length = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (family === 0 || !(length <= (family === 4 ? 32 : 128))) return `--service-cluster-ip-range ${JSON.stringify(range)} must be a CIDR such as 10.0.0.0/24`;
    const smallest = family === 4 ? 12 : 108;
    if (length < smallest) return `specified --service-cluster-ip-range is too large; for ${family === 4 ? 32 : 128}-bit addresses, the mask must be >= ${smallest}`;
    return undefined;
  })
  serviceClusterIpRange = '10.0.0.0/24';
}
