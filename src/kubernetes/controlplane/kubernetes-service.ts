import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { ServerAddresses } from './server-addresses.ts';
import { familyOf } from './services/address-range.ts';

const services: LoopbackTarget = { group: '', version: 'v1', resource: 'services' };
const endpointSlices: LoopbackTarget = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const namespace = 'default';
const name = 'kubernetes';
/** The Endpoints object of the service. */
export const kubernetesEndpoints = { target: { group: '', version: 'v1', resource: 'endpoints' }, namespace, name } as const;
const portName = 'https';
const servicePort = 443;
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
const serviceNameLabel = 'kubernetes.io/service-name';

export interface KubernetesServiceOptions {
  readonly client: LoopbackClient;
  readonly servers: ServerAddresses;
  /** The cluster IP of the service. */
  readonly clusterIP: string;
  /** Port on which the server listens. */
  readonly port: number;
  /** 0 for no node port. */
  readonly nodePort: number;
  /** Address of this server among the endpoints; undefined if endpoints are unmanaged. */
  readonly address: string | undefined;
}

/**
 * Maintains the service `kubernetes` and its endpoints, which are the running servers. Another server removes one that ended without notice
 * at its next reconciliation. Upstream: controlplane/controller/kubernetesservice.
 */
export class KubernetesService {
  #stopped = false;
  #reconciling: Promise<void> = Promise.resolve();

  constructor(readonly options: KubernetesServiceOptions) {}

  /** Creates the service if it is absent. An existing one is not changed. */
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

  /** Renews this server's lease, and updates the endpoints if they differ from the live servers. Does nothing after `stop`. */
  reconcileEndpoints(): Promise<void> {
    return this.#inTurn(async () => {
      const { address, servers } = this.options;
      if (!this.#stopped && address !== undefined) await this.#writeEndpoints(await servers.join(address));
    });
  }

  /** Removes this server from the endpoints. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.#inTurn(async () => {
      const { address, servers } = this.options;
      const left = address === undefined ? undefined : await servers.leave(address);
      if (left) await this.#writeEndpoints(left);
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#reconciling.then(work);
    this.#reconciling = turn.catch(() => {});
    return turn;
  }

  async #writeEndpoints(ips: readonly string[]): Promise<void> {
    const { client, port } = this.options;
    const sorted = [...ips].sort();
    const subsets =
      sorted.length === 0 ? [] : [{ addresses: sorted.map((ip) => ({ ip })), ports: [{ name: portName, port, protocol: 'TCP' }] }];
    await Promise.all([
      this.#write(kubernetesEndpoints.target, {
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
    // The address type of a slice is immutable.
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

  /** Creates the object, or sets its fields and labels if it exists. */
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

/** Returns the object without empty members: an absent and an empty list are equal. */
function comparable(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object, (_key, value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value)));
}
