import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { ServerAddresses } from './server-addresses.ts';
import { familyOf } from './services/address-range.ts';

const services: LoopbackTarget = { group: '', version: 'v1', resource: 'services' };
const endpointSlices: LoopbackTarget = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const namespace = 'default';
const name = 'kubernetes';
/** Where the endpoints are. */
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
  /** Where the server listens. */
  readonly port: number;
  /** 0: none. */
  readonly nodePort: number;
  /** The address of this server among the endpoints; undefined: endpoints are left alone. */
  readonly address: string | undefined;
}

/**
 * Keeps the service `kubernetes` and its endpoints, which are the servers that serve. One that has gone without a word goes
 * with the next look of another one. Upstream: controlplane/controller/kubernetesservice.
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

  /** Says that this server serves, and writes the endpoints if they differ from those that do. Does nothing once it has stopped. */
  reconcileEndpoints(): Promise<void> {
    return this.#inTurn(async () => {
      const { address, servers } = this.options;
      if (!this.#stopped && address !== undefined) await this.#writeEndpoints(await servers.join(address));
    });
  }

  /** Takes this server out of the endpoints. */
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
