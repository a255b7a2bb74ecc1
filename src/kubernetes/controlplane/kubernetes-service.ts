import { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { Endpoints } from '#kubernetes/schema/core_v1.gen';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/registry/loopback-client';
import { familyOf } from './services/address-range.ts';

const services: LoopbackTarget = { group: '', version: 'v1', resource: 'services' };
const endpoints: LoopbackTarget = { group: '', version: 'v1', resource: 'endpoints' };
const endpointSlices: LoopbackTarget = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const namespace = 'default';
const name = 'kubernetes';
const portName = 'https';
const servicePort = 443;
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
const serviceNameLabel = 'kubernetes.io/service-name';
const leasePrefix = '/masterleases/';
const leaseSeconds = 15;

export interface KubernetesServiceOptions {
  readonly client: LoopbackClient;
  readonly storage: Pick<Storage, 'get' | 'list' | 'create' | 'update' | 'delete'>;
  /** The cluster IP of the service. */
  readonly clusterIP: string;
  /** Where the server listens. */
  readonly port: number;
  /** 0: none. */
  readonly nodePort: number;
  /** The address of this server among the endpoints; undefined: endpoints are left alone. */
  readonly address: string | undefined;
}

/**
 * Keeps the service `kubernetes` and its endpoints, which are the servers that hold a lease in the store. A server whose
 * lease ran out goes with the next look of another one. Upstream: controlplane/controller/kubernetesservice,
 * controlplane/reconcilers/lease.go.
 */
export class KubernetesService {
  #stopped = false;
  #reconciling: Promise<void> = Promise.resolve();

  constructor(readonly options: KubernetesServiceOptions) {}

  /** Creates the service if there is none; its fields stay as they are. */
  async ensureService(): Promise<void> {
    const { client, clusterIP, port, nodePort } = this.options;
    await client.ensure(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels: { provider: 'kubernetes', component: 'apiserver' } },
      spec: {
        ports: [{ name: portName, protocol: 'TCP', port: servicePort, targetPort: port, ...(nodePort > 0 && { nodePort }) }],
        clusterIP,
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
      },
    });
  }

  /** Renews this server's lease and writes the endpoints if they differ from the leases. Does nothing once it has stopped. */
  reconcileEndpoints(): Promise<void> {
    return this.#inTurn(async () => {
      const { address } = this.options;
      if (this.#stopped || address === undefined) return;
      const others = (await this.#leases()).filter((ip) => ip !== address);
      await Promise.all([this.#renewLease(address), this.#writeEndpoints([...others, address])]);
    });
  }

  /** Takes this server out of the endpoints. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.#inTurn(async () => {
      const { address, storage } = this.options;
      if (address === undefined) return;
      const lease = await storage.get(leasePrefix + address);
      try {
        if (lease) await storage.delete(lease.key, lease.revision);
      } catch (error) {
        // It ran out, or the next server on this machine has it already.
        if (!(error instanceof ConflictError)) throw error;
        if (error.current) return;
      }
      await this.#writeEndpoints(await this.#leases());
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#reconciling.then(work);
    this.#reconciling = turn.catch(() => {});
    return turn;
  }

  /** The addresses of the servers that hold a lease. */
  async #leases(): Promise<string[]> {
    const { records } = await this.options.storage.list(leasePrefix);
    return records.flatMap(({ value }) => (JSON.parse(value.toString()) as Endpoints).subsets?.[0]?.addresses?.[0]?.ip ?? []);
  }

  async #renewLease(ip: string): Promise<void> {
    const { storage } = this.options;
    const key = leasePrefix + ip;
    const lease = (generation: number) => () =>
      Buffer.from(
        `${JSON.stringify({
          kind: 'Endpoints',
          apiVersion: 'v1',
          metadata: { generation },
          subsets: [{ addresses: [{ ip }] }],
        })}\n`,
      );
    for (;;) {
      const present = await storage.get(key);
      try {
        if (!present) await storage.create(key, lease(1), { ttlSeconds: leaseSeconds });
        else {
          const { metadata } = JSON.parse(present.value.toString()) as KubeObject;
          await storage.update(key, present.revision, lease((metadata.generation ?? 0) + 1), { ttlSeconds: leaseSeconds });
        }
        return;
      } catch (error) {
        if (!(error instanceof ConflictError) && !(error instanceof KeyExistsError)) throw error;
      }
    }
  }

  async #writeEndpoints(ips: readonly string[]): Promise<void> {
    const { client, port } = this.options;
    const sorted = [...ips].sort();
    const subsets =
      sorted.length === 0 ? [] : [{ addresses: sorted.map((ip) => ({ ip })), ports: [{ name: portName, port, protocol: 'TCP' }] }];
    await Promise.all([
      this.#write(endpoints, {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name, namespace, labels: { [skipMirrorLabel]: 'true' } },
        subsets,
      }),
      this.#writeSlice(sorted, client.peek(endpointSlices, namespace, name)),
    ]);
  }

  async #writeSlice(ips: readonly string[], present: KubeObject | undefined): Promise<void> {
    const { client, port } = this.options;
    const family = ips.length > 0 && ips.every((ip) => familyOf(ip) === 'IPv6') ? 'IPv6' : 'IPv4';
    // The type of a slice cannot change.
    if (present && ips.length > 0 && present['addressType'] !== family) await client.delete(endpointSlices, namespace, name);
    await this.#write(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace, labels: { [serviceNameLabel]: name } },
      addressType: ips.length > 0 ? family : ((present?.['addressType'] as string | undefined) ?? family),
      endpoints: ips.filter((ip) => familyOf(ip) === family).map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ...(ips.length > 0 && { ports: [{ name: portName, protocol: 'TCP', port }] }),
    });
  }

  /** Creates the object, or gives the present one its fields and labels. */
  async #write(target: LoopbackTarget, { metadata, ...fields }: KubeObject): Promise<void> {
    const { client } = this.options;
    if (!client.peek(target, namespace, name)) {
      await client.ensure(target, { ...fields, metadata } as KubeObject);
      return;
    }
    await client.update(target, namespace, name, (object) => {
      const next: KubeObject = {
        ...object,
        ...fields,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...metadata.labels } },
      };
      return deepEqual(comparable(next), comparable(object)) ? undefined : next;
    });
  }
}

/** Without what is empty: no list and an empty one are the same. */
function comparable(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object, (_key, value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value)));
}
