import { createHash, randomUUID } from 'node:crypto';
import type { KubeObject } from '#apimachinery/meta/types';
import { nowMicro } from '#apimachinery/runtime/time';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';

const leases: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const namespace = 'kube-system';
const identity = 'kube-apiserver';
const identityLabel = 'apiserver.kubernetes.io/identity';
const hostnameLabel = 'kubernetes.io/hostname';
const addressAnnotation = 'kubernetes.io/peer-advertise-address';
const durationSeconds = 3600;
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Returns the identity of the server on a machine, which is stable across restarts. Upstream: apiserver/pkg/server/config.go (APIServerID).
 */
export function apiServerId(host: string): string {
  const hash = createHash('sha256');
  for (const text of [host, identity]) {
    const bytes = Buffer.from(text);
    hash.update(Buffer.from([bytes.length >> 8, bytes.length & 0xff])).update(bytes);
  }
  let bits = 0n;
  for (const byte of hash.digest().subarray(0, 16)) bits = (bits << 8n) | BigInt(byte);
  // 128 bits in 5-bit digits: the last one is padded with two zero bits.
  bits <<= 2n;
  let text = '';
  for (let at = 125n; at >= 0n; at -= 5n) text += base32[Number((bits >> at) & 31n)];
  return `apiserver-${text}`;
}

/**
 * The Lease in kube-system that announces this server to the other servers of the cluster. Upstream: controlplane/apiserver/server.go,
 * component-helpers/apimachinery/lease.
 */
export class IdentityLease {
  readonly #name: string;
  readonly #holder: string;
  #stopped = false;
  #renewing: Promise<void> = Promise.resolve();

  /** `address` is the host:port under which other servers reach this one. */
  constructor(
    readonly client: LoopbackClient,
    readonly address: string | undefined,
    readonly host: string,
  ) {
    this.#name = apiServerId(host);
    this.#holder = `${this.#name}_${randomUUID()}`;
  }

  /** Acquires or renews the lease. Does nothing after it was released. */
  renew(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const renewal = this.#write();
    this.#renewing = renewal.catch(() => {});
    return renewal;
  }

  async #write(): Promise<void> {
    const spec = { holderIdentity: this.#holder, leaseDurationSeconds: durationSeconds, renewTime: nowMicro() };
    const labels = { [identityLabel]: identity, [hostnameLabel]: this.host };
    const annotations = this.address === undefined ? {} : { [addressAnnotation]: this.address };
    if (!this.client.peek(leases, namespace, this.#name)) {
      await this.client.ensure(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: this.#name, namespace, labels, annotations },
        spec,
      });
      return;
    }
    await this.client.update(leases, namespace, this.#name, (lease) => ({
      ...lease,
      metadata: {
        ...lease.metadata,
        labels: { ...lease.metadata.labels, ...labels },
        annotations: { ...lease.metadata.annotations, ...annotations },
      },
      spec: { ...(lease['spec'] as object), ...spec },
    }));
  }

  /** Releases the lease. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#renewing;
    const lease = this.client.peek(leases, namespace, this.#name) as Lease | undefined;
    if (lease?.spec?.holderIdentity === this.#holder) await this.client.delete(leases, namespace, this.#name);
  }
}

/** Reports the identities of servers: each present one, also after a restart, and each that is gone. */
export function watchIdentities(client: LoopbackClient, onChange: (id: string, isPresent: boolean) => void): Disposable {
  const holders = new Map<string, string | undefined>();
  return client.informer<Lease>(leases).subscribe((type, { metadata, spec }) => {
    if (metadata.namespace !== namespace || metadata.labels?.[identityLabel] !== identity) return;
    const id = metadata.name ?? '';
    if (type === 'DELETED') {
      holders.delete(id);
      return onChange(id, false);
    }
    if (holders.has(id) && holders.get(id) === spec?.holderIdentity) return;
    holders.set(id, spec?.holderIdentity);
    onChange(id, true);
  });
}

/** Deletes expired identity leases of other servers. Upstream: controlplane/controller/apiserverleasegc. */
export async function collectExpiredLeases(client: LoopbackClient, now: number): Promise<void> {
  const expired = client
    .peekAll(leases, namespace)
    .filter((lease) => lease.metadata.labels?.[identityLabel] === identity && isExpired(lease, now));
  await Promise.all(expired.map((lease) => client.delete(leases, namespace, lease.metadata.name ?? '')));
}

function isExpired(lease: KubeObject, now: number): boolean {
  const { renewTime, leaseDurationSeconds } = (lease as Lease).spec ?? {};
  return renewTime === undefined || leaseDurationSeconds === undefined || Date.parse(renewTime) + leaseDurationSeconds * 1000 < now;
}
