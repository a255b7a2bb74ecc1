import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import { ConflictError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { Endpoints } from '#kubernetes/schema/core_v1.gen';
import { renewEndpointLease } from './endpoint-lease.ts';

/** Membership of the servers of a cluster, as the endpoints of the kubernetes service need it. */
export interface ServerAddresses {
  /** Adds this server; resolves with all live servers, including this one. */
  join(address: string): Promise<string[]>;
  /** Removes this server; resolves with the remaining ones, or with undefined if another server already has its address. */
  leave(address: string): Promise<string[] | undefined>;
}

const leasePrefix = '/masterleases/';

/** Membership by leases in the store: a server whose lease has expired is not a member. Upstream: controlplane/reconcilers/lease.go. */
export class LeasedAddresses implements ServerAddresses {
  constructor(private readonly storage: Pick<Storage, 'get' | 'list' | 'create' | 'update' | 'delete'>) {}

  async join(address: string): Promise<string[]> {
    const [present] = await Promise.all([
      this.#leases(),
      renewEndpointLease(this.storage, leasePrefix + address, { subsets: [{ addresses: [{ ip: address }] }] }),
    ]);
    return [...present.filter((one) => one !== address), address];
  }

  async leave(address: string): Promise<string[] | undefined> {
    const lease = await this.storage.get(leasePrefix + address);
    try {
      if (lease) await this.storage.delete(lease.key, lease.revision);
    } catch (error) {
      // The lease has expired, or another server on this machine has already taken it.
      if (!(error instanceof ConflictError)) throw error;
      if (error.current) return undefined;
    }
    return this.#leases();
  }

  async #leases(): Promise<string[]> {
    const { records } = await this.storage.list(leasePrefix);
    return records.flatMap(({ value }) => (JSON.parse(value.toString()) as Endpoints).subsets?.[0]?.addresses?.[0]?.ip ?? []);
  }
}

/**
 * Membership by the endpoints themselves and a fixed number of servers: each server adds itself, and if there are too many, the next one in
 * order is removed. Upstream: controlplane/reconcilers/instancecount.go.
 */
export class CountedAddresses implements ServerAddresses {
  constructor(
    private readonly client: Pick<LoopbackClient, 'peek'>,
    private readonly endpoints: { readonly target: LoopbackTarget; readonly namespace: string; readonly name: string },
    private readonly count: number,
  ) {}

  join(address: string): Promise<string[]> {
    const all = [...new Set([...this.#present(), address])].sort();
    while (all.length > this.count) all.splice((all.indexOf(address) + 1) % all.length, 1);
    return Promise.resolve(all);
  }

  leave(address: string): Promise<string[]> {
    return Promise.resolve(this.#present().filter((one) => one !== address));
  }

  /** Returns the present addresses; an empty list if the endpoints have an unexpected form. */
  #present(): string[] {
    const { target, namespace, name } = this.endpoints;
    const { subsets = [] } = (this.client.peek(target, namespace, name) ?? {}) as Endpoints;
    return subsets.length === 1 ? (subsets[0]?.addresses ?? []).flatMap(({ ip }) => ip ?? []) : [];
  }
}
