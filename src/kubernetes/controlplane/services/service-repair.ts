import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { Service } from '#kubernetes/schema/core_v1.gen';
import type { IPAddress } from '#kubernetes/schema/networking_v1.gen';
import { familyOf, formatAddress, type IPFamily, parseAddress } from './address-range.ts';
import { type ClusterIPAllocator, hasAllocatorLabels, ipAddresses, isManaged, newIPAddress } from './cluster-ip-allocator.ts';
import { headless, needsClusterIP } from './cluster-ip-fields.ts';
import type { NodePortAllocator } from './node-port-allocator.ts';
import type { PortBitmap } from './port-bitmap.ts';
import { heldNodePorts } from './service-allocation.ts';

const services: LoopbackTarget = { group: '', version: 'v1', resource: 'services' };
/** Age after which an interrupted create cannot be in progress: the longest duration of a request. */
const creationGraceMs = 60_000;
/** Number of sightings after which an unused port is released: its service may be in creation. */
const leakSightings = 3;

export interface ServiceRepairOptions {
  readonly client: LoopbackClient;
  readonly clusterIPs: ClusterIPAllocator;
  readonly nodePorts: NodePortAllocator;
  /** May be called repeatedly with the same message. */
  warn(message: string): void;
  readonly now?: () => number;
}

/**
 * Reconciles allocations with the services, after crashes and manual changes. Upstream: core/service/ipallocator/controller/repairip.go,
 * core/service/portallocator/controller/repair.go.
 */
export class ServiceRepair {
  readonly #leaks = new Map<number, number>();

  constructor(readonly options: ServiceRepairOptions) {}

  async run(): Promise<void> {
    const { client, clusterIPs, nodePorts } = this.options;
    const isCovered = clusterIPs.coverage();
    // The snapshot is read first, so that the port of a service that is deleted during the check is not allocated again.
    const stored = await nodePorts.snapshot();
    const used = new Set<number>();
    for await (const service of client.scan(services)) {
      for (const port of heldNodePorts(service as Service)) used.add(port);
      await this.#repairService(service as Service, isCovered);
    }
    for await (const address of client.scan(ipAddresses))
      if (isManaged(address as IPAddress)) await this.#releaseLeaked(address as IPAddress);
    await this.#repairNodePorts(used, stored);
  }

  /** Ensures that each cluster IP has an IPAddress that refers to the service. */
  async #repairService(service: Service, isCovered: (ip: string) => boolean): Promise<void> {
    const { client } = this.options;
    const { metadata, spec = {} } = service;
    if (!needsClusterIP(spec) || !spec.clusterIP || spec.clusterIP === headless) return;
    const owner = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    for (const text of spec.clusterIPs ?? []) {
      const parsed = parseAddress(text);
      const ip = parsed && formatAddress(parsed.family, parsed.address);
      if (!ip || !isCovered(ip)) {
        this.options.warn(
          `the cluster IP ${text} of service ${owner.namespace}/${owner.name} is not within any service CIDR; please recreate it`,
        );
        continue;
      }
      const family = familyOf(ip) as IPFamily;
      const present = client.peek(ipAddresses, '', ip) as IPAddress | undefined;
      const parent = present?.spec?.parentRef;
      const isService = parent?.resource === 'services' && !parent.group;
      if (present && isService && (parent.namespace !== owner.namespace || parent.name !== owner.name)) {
        const other = client.peek(services, parent.namespace ?? '', parent.name ?? '') as Service | undefined;
        if (other?.spec?.clusterIPs?.includes(ip)) {
          this.options.warn(
            `the cluster IP ${ip} of service ${owner.namespace}/${owner.name} is that of service ${parent.namespace}/${parent.name}, too; please recreate it`,
          );
          continue;
        }
        if (other) continue;
      } else if (present && isService && hasAllocatorLabels(present, family)) continue;
      // The service may have been deleted since.
      if (!client.peek(services, owner.namespace, owner.name)) return;
      this.options.warn(`the cluster IP ${ip} of service ${owner.namespace}/${owner.name} is not allocated to it; repairing`);
      if (present) await client.delete(ipAddresses, '', ip);
      await client.ensure(ipAddresses, newIPAddress(family, ip, owner));
    }
  }

  /** Releases an address that was allocated to a service which does not have it. */
  async #releaseLeaked(address: IPAddress): Promise<void> {
    const { client, now = Date.now } = this.options;
    const parent = address.spec?.parentRef;
    const ip = address.metadata.name ?? '';
    if (parent?.resource === 'services' && !parent.group) {
      const owner = client.peek(services, parent.namespace ?? '', parent.name ?? '') as Service | undefined;
      if (owner?.spec?.clusterIPs?.some((text) => text === ip)) return;
      if (now() - Date.parse(address.metadata.creationTimestamp ?? '') < creationGraceMs) return;
    }
    this.options.warn(`IPAddress ${ip} appears to have leaked; cleaning up`);
    await client.delete(ipAddresses, '', ip);
  }

  async #repairNodePorts(used: ReadonlySet<number>, stored: PortBitmap): Promise<void> {
    const { nodePorts } = this.options;
    const leaked: number[] = [];
    for (const port of used)
      if (!stored.contains(port)) this.options.warn(`node port ${port} of a service is not within the range; please recreate it`);
    for (const port of stored) {
      if (used.has(port)) continue;
      const seen = (this.#leaks.get(port) ?? 0) + 1;
      this.#leaks.set(port, seen);
      if (seen > leakSightings) leaked.push(port);
    }
    for (const port of this.#leaks.keys()) if (used.has(port) || leaked.includes(port) || !stored.has(port)) this.#leaks.delete(port);
    if (leaked.length > 0) this.options.warn(`node ports ${leaked.join(', ')} appear to have leaked; cleaning up`);
    await nodePorts.repair(
      [...used].filter((port) => !stored.has(port)),
      leaked,
    );
  }
}
