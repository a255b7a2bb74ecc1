import type { EtcdClient } from './client.ts';

/** Default of `reuseSeconds`. Upstream: apiserver/pkg/storage/etcd3/lease_manager.go. */
const defaultReuseSeconds = 60;
const reusePart = 0.05;
const maxObjects = 1_000;

/**
 * Grants leases for expiring keys. A lease is reused for keys with nearly the same expiry, because each grant is a write.
 * Keys live up to `reuseSeconds` or 5 % longer than requested, never shorter.
 */
export class LeaseManager {
  #lease: { readonly id: number | bigint; readonly expires: number } | undefined;
  #objects = 0;
  /** The pending grant. */
  #granting: Promise<unknown> = Promise.resolve();

  /** `reuseSeconds` is the additional lifetime accepted for sharing a lease. */
  constructor(
    private readonly client: EtcdClient,
    private readonly reuseSeconds = defaultReuseSeconds,
  ) {}

  leaseFor(ttlSeconds: number): Promise<number | bigint> {
    const lease = this.#granting.then(() => this.#leaseFor(ttlSeconds));
    this.#granting = lease.catch(() => {});
    return lease;
  }

  async #leaseFor(ttlSeconds: number): Promise<number | bigint> {
    const now = performance.now();
    const extra = Math.max(0, Math.min(Math.floor(reusePart * ttlSeconds), this.reuseSeconds));
    const expires = now + ttlSeconds * 1_000;
    this.#objects += 1;
    const lease = this.#lease;
    if (lease && expires < lease.expires && expires + extra * 1_000 > lease.expires && this.#objects <= maxObjects) return lease.id;
    const id = await this.client.grantLease(ttlSeconds + extra);
    this.#lease = { id, expires: expires + extra * 1_000 };
    this.#objects = 1;
    return id;
  }
}
