import { ConflictError } from '#apiserver/storage/errors';
import type { Endpoint } from '#apiserver/network/endpoint';
import type { Storage } from '#apiserver/storage/storage';
import type { Endpoints } from '#kubernetes/schema/core_v1.gen';
import { renewEndpointLease } from './endpoint-lease.ts';

/** Feature gate of proxying to other servers on the same store. Upstream: apiserver/pkg/features. */
export const peerProxyGate = 'UnknownVersionInteroperabilityProxy';

const prefix = '/peerserverleases/';
const identityLabel = 'apiserverIdentity';

/**
 * The addresses by which the servers of a cluster proxy requests to each other: leases in the store, by the identity of the server.
 * Upstream: apiserver/pkg/reconcilers/peer_endpoint_lease.go.
 */
export class PeerEndpoints {
  constructor(private readonly storage: Pick<Storage, 'get' | 'create' | 'update' | 'delete'>) {}

  /** Writes or renews the lease of a server. Rejects if the port is not a number. */
  async renew(id: string, { host, port }: Endpoint): Promise<void> {
    if (Number.isNaN(port)) throw new Error('the port of the endpoint is not a number');
    await renewEndpointLease(this.storage, prefix + id, {
      labels: { [identityLabel]: id },
      subsets: [{ addresses: [{ ip: host }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    });
  }

  /** Returns the endpoint of a server; undefined if it has none or its lease has expired. */
  async of(id: string): Promise<Endpoint | undefined> {
    const lease = await this.storage.get(prefix + id);
    if (!lease) return undefined;
    const [subset] = (JSON.parse(lease.value.toString()) as Endpoints).subsets ?? [];
    const host = subset?.addresses?.[0]?.ip;
    const port = subset?.ports?.[0]?.port;
    return host === undefined || port === undefined ? undefined : { host, port };
  }

  /** Removes the lease of a server. */
  async remove(id: string): Promise<void> {
    const lease = await this.storage.get(prefix + id);
    try {
      if (lease) await this.storage.delete(lease.key, lease.revision);
    } catch (error) {
      // It has expired, or another server has the identity.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
}
