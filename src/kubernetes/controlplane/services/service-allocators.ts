import type { Registry } from 'prom-client';
import { formatCIDR, parseCIDRSloppy } from '#apimachinery/validation/ip';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { StoreHooks } from '#apiserver/registry/write';
import type { Logger } from '#apiserver/base/logger';
import type { Storage } from '#apiserver/storage/storage';
import type { ControlPlaneOptions } from '../control-plane-options.ts';
import { AddressRange } from './address-range.ts';
import { registerAllocationMetrics } from './allocation-metrics.ts';
import { ClusterIPAllocator } from './cluster-ip-allocator.ts';
import { NodePortAllocator } from './node-port-allocator.ts';
import { ServiceAllocation } from './service-allocation.ts';

export interface ServiceAllocatorsParts {
  readonly client: LoopbackClient;
  readonly storage: Storage;
  /** One CIDR, or two of different families, comma-separated. */
  readonly clusterIpRange: string;
  readonly nodePortRange: ControlPlaneOptions['serviceNodePortRange'];
  readonly log: Pick<Logger, 'error'>;
}

/** Allocators of the cluster addresses and node ports of Services. */
export class ServiceAllocators {
  readonly cidrs: readonly AddressRange[];
  readonly clusterIPs: ClusterIPAllocator;
  readonly nodePorts: NodePortAllocator;
  /** Store hooks by `group/resource`. */
  readonly hooks: ReadonlyMap<string, StoreHooks>;

  /** Throws for a range that Services cannot use. */
  constructor({ client, storage, clusterIpRange, nodePortRange, log }: ServiceAllocatorsParts) {
    this.cidrs = clusterIpRange.split(',').map(parseRange);
    this.clusterIPs = new ClusterIPAllocator(client);
    this.nodePorts = new NodePortAllocator(storage, nodePortRange);
    const services = new ServiceAllocation({
      client,
      clusterIPs: this.clusterIPs,
      nodePorts: this.nodePorts,
      families: this.cidrs.map(({ family }) => family),
      onError: (error, message) => log.error({ reason: error instanceof Error ? error.message : String(error) }, message),
    });
    this.hooks = new Map<string, StoreHooks>([['/services', services]]);
  }

  registerMetrics(registry: Registry): void {
    registerAllocationMetrics(registry, this.nodePorts, this.clusterIPs);
  }
}

function parseRange(text: string): AddressRange {
  const cidr = parseCIDRSloppy(text.trim());
  const range = cidr && AddressRange.parse(formatCIDR(cidr));
  if (!range) throw new Error(`the service cluster IP range ${JSON.stringify(text)} is not a valid CIDR for services`);
  return range;
}
