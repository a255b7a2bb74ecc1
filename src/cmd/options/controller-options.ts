import { parseCIDRSloppy } from '#apimachinery/validation/ip';
import type { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
import { controllerNames, isControllerName } from '#cmd/builtin-controllers';
import { Check, Flag } from './flag.ts';
import { nearestName } from './nearest-name.ts';

/** Largest difference of the prefix lengths of a range and of a node's part. */
const largestBits = 16;

/** Controllers that run in the server. Upstream: cmd/kube-controller-manager/app/options. */
export class ControllerOptions {
  /** `*`: all that run by default, `NAME`: this one too, `-NAME`: all but this one, `-*`: none. */
  @Flag('controllers')
  @Check<ControllerOptions>((selection: readonly string[]) => selection.map((entry) => entry.replace(/^-/, '')).flatMap(problemsOf))
  controllers: readonly string[] = [];

  @Flag('allocate-node-cidrs')
  @Check<ControllerOptions>((allocates: boolean, { clusterCidr }) => {
    if (allocates && clusterCidr === '') return '--allocate-node-cidrs needs the range of the pods: --cluster-cidr';
    return !allocates && clusterCidr !== '' ? '--cluster-cidr has no effect without --allocate-node-cidrs=true' : undefined;
  })
  allocateNodeCidrs = false;

  /** One range, or two ranges of different families. */
  @Flag('cluster-cidr')
  @Check<ControllerOptions>((text: string, options) => rangeProblems(text, options))
  clusterCidr = '';

  @Flag('node-cidr-mask-size-ipv4')
  nodeCidrMaskSizeIpv4 = 24;

  @Flag('node-cidr-mask-size-ipv6')
  nodeCidrMaskSizeIpv6 = 64;

  /** Returns the ranges of the nodes; undefined if they get none. `services`: value of `--service-cluster-ip-range`. */
  nodeCidrs(services: string): NodeCidrRanges | undefined {
    if (!this.allocateNodeCidrs) return undefined;
    const pods = this.clusterCidr.split(',').map((cidr) => ({ cidr: cidr.trim(), nodePrefix: this.nodePrefix(cidr) }));
    return { pods, services: services.split(',').map((range) => range.trim()) };
  }

  /** Returns the prefix length of a node's part of the range. */
  nodePrefix(cidr: string): number {
    return cidr.includes(':') ? this.nodeCidrMaskSizeIpv6 : this.nodeCidrMaskSizeIpv4;
  }
}

function rangeProblems(text: string, options: ControllerOptions): string[] {
  if (text === '') return [];
  const texts = text.split(',').map((range) => range.trim());
  const cidrs = texts.map((range) => parseCIDRSloppy(range));
  if (texts.length > 2 || (cidrs.length === 2 && cidrs[0]?.bytes.length === cidrs[1]?.bytes.length))
    return ['--cluster-cidr must hold one CIDR, or two of different families'];
  return cidrs.flatMap((cidr, at) => {
    const range = texts[at] as string;
    if (!cidr) return `--cluster-cidr ${JSON.stringify(range)} must be a CIDR such as 10.244.0.0/16`;
    const prefix = options.nodePrefix(range);
    const isDivisible = prefix >= cidr.prefix && prefix - cidr.prefix <= largestBits && prefix <= cidr.bytes.length * 8;
    const family = cidr.bytes.length === 4 ? 'ipv4' : 'ipv6';
    return isDivisible
      ? []
      : `--node-cidr-mask-size-${family} ${prefix} must be between ${cidr.prefix} and ${cidr.prefix + largestBits}, as --cluster-cidr is ${range}`;
  });
}

function problemsOf(name: string): string[] {
  if (name === '*' || isControllerName(name)) return [];
  const nearest = nearestName(name, controllerNames);
  return [`--controllers: unknown controller ${JSON.stringify(name)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`];
}
