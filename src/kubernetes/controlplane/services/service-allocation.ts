import { newInternalError, newInvalid } from '#apimachinery/api/errors';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Finish, StoreHooks, WriteRequest } from '#apiserver/registry/write';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { Service, ServicePort, ServiceSpec } from '#kubernetes/schema/core_v1.gen';
import type { IPFamily } from './address-range.ts';
import { AllocationError } from './allocation-error.ts';
import type { ClusterIPAllocator } from './cluster-ip-allocator.ts';
import {
  headless,
  initIPFamilyFields,
  keepsClusterIPs,
  needsClusterIP,
  needsHealthCheckNodePort,
  normalizeClusterIPs,
  patchAllocatedValues,
} from './cluster-ip-fields.ts';
import { type NodePortAllocator, NodePortOperation } from './node-port-allocator.ts';

const serviceKind = { group: '', kind: 'Service' };
const specPath = fieldPath('spec');
const endpoints: LoopbackTarget = { group: '', version: 'v1', resource: 'endpoints' };

export interface ServiceAllocationOptions {
  readonly client: LoopbackClient;
  readonly clusterIPs: ClusterIPAllocator;
  readonly nodePorts: NodePortAllocator;
  /** IP families of the cluster's services, the default one first. */
  readonly families: readonly IPFamily[];
  /** Called for a release that failed; the repair loops retry it. */
  onError(error: unknown, message: string): void;
}

/** Addresses by index in spec.clusterIPs; indexes without a change are absent. */
type Addresses = ReadonlyMap<number, string>;

/**
 * Allocates cluster IPs and node ports before a service is stored, and releases them when the write fails or the service no longer uses
 * them. Upstream: core/service/storage/{storage,alloc}.go.
 */
export class ServiceAllocation implements StoreHooks {
  constructor(readonly options: ServiceAllocationOptions) {}

  async beginCreate(object: KubeObject, request: WriteRequest): Promise<Finish> {
    const service = object as Service;
    const spec = (service.spec ??= {});
    normalizeClusterIPs(spec, undefined);
    initIPFamilyFields(service, undefined, this.options.families, request);
    const taken = await this.#allocateClusterIPs(service, request);
    const ports = new NodePortOperation(this.options.nodePorts, request.dryRun);
    const finish = this.#finisher(taken, new Map(), ports, request.dryRun);
    try {
      if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') await initNodePorts(service, ports);
      if (needsHealthCheckNodePort(spec)) await allocateHealthCheckNodePort(spec, ports);
    } catch (error) {
      await finish(false);
      throw error;
    }
    return finish;
  }

  async beginUpdate(object: KubeObject, oldObject: KubeObject, request: WriteRequest): Promise<Finish> {
    const service = object as Service;
    const old = oldObject as Service;
    const spec = (service.spec ??= {});
    const before = old.spec ?? {};
    patchAllocatedValues(spec, before);
    normalizeClusterIPs(spec, before);
    initIPFamilyFields(service, old, this.options.families, request);
    const { taken, left } = await this.#updateClusterIPs(service, before, request);
    const ports = new NodePortOperation(this.options.nodePorts, request.dryRun);
    const finish = this.#finisher(taken, left, ports, request.dryRun);
    try {
      const had = before.type === 'NodePort' || before.type === 'LoadBalancer';
      const has = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
      if (had && !has) for (const port of nodePortsOf(before)) ports.releaseDeferred(port);
      if (has) await updateNodePorts(service, before, ports);
      if (!needsHealthCheckNodePort(before) && needsHealthCheckNodePort(spec)) await allocateHealthCheckNodePort(spec, ports);
      else if (needsHealthCheckNodePort(before) && !needsHealthCheckNodePort(spec) && before.healthCheckNodePort)
        ports.releaseDeferred(before.healthCheckNodePort);
    } catch (error) {
      await finish(false);
      throw error;
    }
    return finish;
  }

  /** Deletes the endpoints of a deleted service, so that a new one of the same name does not inherit them. */
  async afterDelete(object: KubeObject): Promise<void> {
    const { metadata, spec = {} } = object as Service;
    const { client, nodePorts } = this.options;
    const ips = needsClusterIP(spec) && spec.clusterIPs?.[0] !== headless ? (spec.clusterIPs ?? []) : [];
    const ports = [...nodePortsOf(spec), ...(needsHealthCheckNodePort(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [])];
    await Promise.all([
      this.#try('endpoints', client.delete(endpoints, metadata.namespace ?? '', metadata.name ?? '')),
      ...ips.map((ip) => this.#releaseIP(ip)),
      ...ports.map((port) => this.#try('node port', nodePorts.release(port))),
    ]);
  }

  #finisher(taken: Addresses, left: Addresses, ports: NodePortOperation, dryRun: boolean): Finish {
    return async (success) => {
      const ips = dryRun ? [] : [...(success ? left : taken).values()];
      await Promise.all([...ips.map((ip) => this.#releaseIP(ip)), this.#try('node ports', ports.finish(success))]);
    };
  }

  #releaseIP(ip: string): Promise<void> {
    return this.#try('cluster IP', this.options.clusterIPs.release(ip));
  }

  async #try(what: string, release: Promise<void>): Promise<void> {
    try {
      await release;
    } catch (error) {
      this.options.onError(error, `the ${what} of a service could not be released`);
    }
  }

  /** Allocates addresses of all families, and sets clusterIP and clusterIPs. */
  async #allocateClusterIPs(service: Service, request: WriteRequest): Promise<Addresses> {
    const spec = service.spec as ServiceSpec;
    if (!needsClusterIP(spec) || spec.clusterIPs?.[0] === headless) return new Map();
    const families = spec.ipFamilies ?? [];
    const ips = [...(spec.clusterIPs ?? [])];
    while (ips.length < families.length) ips.push('');
    spec.clusterIPs = ips;
    const taken = await this.#take(
      service,
      families.map((_, at) => at),
      request,
    );
    for (const [at, ip] of taken) ips[at] = ip;
    spec.clusterIP = ips[0] ?? '';
    return taken;
  }

  /**
   * Allocates and releases addresses by the change of the service:
   *
   * | before       | now          | change                       |
   * | ------------ | ------------ | ---------------------------- |
   * | ExternalName | another      | allocates all addresses      |
   * | headless     | any          | none                         |
   * | another      | ExternalName | releases all addresses       |
   * | one family   | two          | allocates the second address |
   * | two families | one          | releases the second address  |
   */
  async #updateClusterIPs(service: Service, before: ServiceSpec, request: WriteRequest): Promise<{ taken: Addresses; left: Addresses }> {
    const spec = service.spec as ServiceSpec;
    const none: Addresses = new Map();
    if (keepsClusterIPs(spec, before)) return { taken: none, left: none };
    if (!needsClusterIP(before))
      return { taken: needsClusterIP(spec) ? await this.#allocateClusterIPs(service, request) : none, left: none };
    const oldIPs = before.clusterIPs ?? [];
    if (oldIPs[0] === headless) return { taken: none, left: none };
    if (!needsClusterIP(spec)) return { taken: none, left: new Map(oldIPs.entries()) };
    const hadTwo = before.ipFamilies?.length === 2;
    const hasTwo = spec.ipFamilies?.length === 2;
    if (!hadTwo && hasTwo) {
      const ips = [...(spec.clusterIPs ?? [])];
      if (ips.length < 2) ips.push('');
      spec.clusterIPs = ips;
      const taken = await this.#take(service, [1], request);
      ips[1] = taken.get(1) ?? '';
      return { taken, left: none };
    }
    if (hadTwo && spec.ipFamilies?.length === 1 && oldIPs[1]) return { taken: none, left: new Map([[1, oldIPs[1]]]) };
    return { taken: none, left: none };
  }

  /** Allocates the addresses at these indexes of spec.clusterIPs; an empty one stands for any. After a StatusError nothing is allocated. */
  async #take(service: Service, places: readonly number[], { namespace, dryRun }: WriteRequest): Promise<Addresses> {
    const { clusterIPs: allocator } = this.options;
    const spec = service.spec as ServiceSpec;
    const owner = { namespace, name: service.metadata.name ?? '' };
    const taken = new Map<number, string>();
    for (const place of places) {
      const family = spec.ipFamilies?.[place] as IPFamily;
      const ip = spec.clusterIPs?.[place] ?? '';
      try {
        if (dryRun) taken.set(place, allocator.dryRun(family, ip));
        else if (ip === '') taken.set(place, await allocator.allocateNext(family, owner));
        else {
          await allocator.allocate(ip, owner);
          taken.set(place, ip);
        }
      } catch (error) {
        if (!dryRun) await Promise.all([...taken.values()].map((one) => this.#releaseIP(one)));
        throw this.#addressError(service, ip, error);
      }
    }
    return taken;
  }

  #addressError({ metadata, spec }: Service, ip: string, error: unknown): unknown {
    const { message } = error as Error;
    const name = metadata.name ?? '';
    if (ip === '' && error instanceof AllocationError && error.failure === 'full') {
      return newInternalError(
        new Error(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: ${message}`, { cause: error }),
      );
    }
    return newInvalid(serviceKind, name, [
      invalid(specPath.child('clusterIPs'), spec?.clusterIPs, `failed to allocate IP${ip && ` ${ip}`}: ${message}`),
    ]);
  }
}

const nodePortPath = (at: number) => specPath.child('ports').index(at).child('nodePort');
const allocatesNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts === true);
const nodePortsOf = ({ ports }: ServiceSpec): number[] => (ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

/** Allocates node ports; equal ports of several protocols share one. Upstream: alloc.go (initNodePorts). */
async function initNodePorts(service: Service, operation: NodePortOperation): Promise<void> {
  const spec = service.spec as ServiceSpec;
  const ports = spec.ports ?? [];
  const byPort = new Map<number, number>();
  const requestedOf = new Map<number, number>();
  for (const { port = 0, nodePort } of ports) if (nodePort && !requestedOf.has(port)) requestedOf.set(port, nodePort);
  for (const [at, port] of ports.entries()) {
    if (!port.nodePort && !allocatesNodePorts(spec)) continue;
    const number = port.port ?? 0;
    const shared = byPort.get(number);
    if (shared === undefined) {
      const requested = requestedOf.get(number);
      port.nodePort = requested ?? (await allocateAny(operation));
      if (requested !== undefined) await allocateRequested(service, at, requested, operation);
      byPort.set(number, port.nodePort);
    } else if (!port.nodePort) port.nodePort = shared;
    else if (port.nodePort !== shared) await allocateRequested(service, at, port.nodePort, operation);
  }
}

/** Allocates and releases node ports by the changes of a service. Upstream: alloc.go (updateNodePorts). */
async function updateNodePorts(service: Service, before: ServiceSpec, operation: NodePortOperation): Promise<void> {
  const spec = service.spec as ServiceSpec;
  const old = new Set(nodePortsOf(before));
  const allocated = new Set<number>();
  const seen = new Set<string>();
  for (const [at, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort && !allocatesNodePorts(spec)) continue;
    if (!port.nodePort) port.nodePort = await allocateAny(operation);
    else if (!old.has(port.nodePort) && !allocated.has(port.nodePort)) {
      await allocateRequested(service, at, port.nodePort, operation);
      allocated.add(port.nodePort);
    }
    const identity = protocolAndPort(port);
    if (seen.has(identity)) throw new Error(`duplicate nodePort: {${identity}}`);
    seen.add(identity);
  }
  const kept = new Set(nodePortsOf(spec));
  for (const port of old) if (!kept.has(port)) operation.releaseDeferred(port);
}

const protocolAndPort = ({ protocol = '', nodePort = 0 }: ServicePort): string => `${protocol} ${nodePort}`;

async function allocateRequested(service: Service, at: number, port: number, operation: NodePortOperation): Promise<void> {
  try {
    await operation.allocate(port);
  } catch (error) {
    throw newInvalid(serviceKind, service.metadata.name ?? '', [invalid(nodePortPath(at), port, (error as Error).message)]);
  }
}

async function allocateAny(operation: NodePortOperation): Promise<number> {
  try {
    return await operation.allocateNext();
  } catch (cause) {
    throw newInternalError(new Error(`failed to allocate a nodePort: ${(cause as Error).message}`, { cause }));
  }
}

async function allocateHealthCheckNodePort(spec: ServiceSpec, operation: NodePortOperation): Promise<void> {
  const requested = spec.healthCheckNodePort ?? 0;
  try {
    if (requested !== 0) await operation.allocate(requested);
    else spec.healthCheckNodePort = await operation.allocateNext();
  } catch (cause) {
    const what = requested !== 0 ? `requested HealthCheck NodePort ${requested}` : 'a HealthCheck NodePort 0';
    throw newInternalError(new Error(`failed to allocate ${what}: ${(cause as Error).message}`, { cause }));
  }
}

/**
 * Returns the node ports of a service, which the repair loop keeps allocated. Upstream: portallocator/controller/repair.go
 * (collectServiceNodePorts).
 */
export function heldNodePorts({ spec = {} }: Service): number[] {
  return [...nodePortsOf(spec), ...(spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [])];
}
