import { Buffer } from 'node:buffer';
import { nextGeneration } from '#apimachinery/meta/generation';
import type { KubeObject } from '#apimachinery/meta/types';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { Endpoints } from '#kubernetes/schema/core_v1.gen';

/** Which servers serve the API: how one that does knows of the others. */
export interface ServerAddresses {
  /** Says that this one serves; those of all that do, this one among them. */
  join(address: string): Promise<string[]>;
  /** Says that it does no longer; those that are left. undefined: its address is another's already. */
  leave(address: string): Promise<string[] | undefined>;
}

const leasePrefix = '/masterleases/';
const leaseSeconds = 15;

/** Each server holds a lease in the store, and is gone when that runs out. Upstream: controlplane/reconcilers/lease.go. */
export class LeasedAddresses implements ServerAddresses {
  constructor(private readonly storage: Pick<Storage, 'get' | 'list' | 'create' | 'update' | 'delete'>) {}

  async join(address: string): Promise<string[]> {
    const [present] = await Promise.all([this.#leases(), this.#renew(address)]);
    return [...present.filter((one) => one !== address), address];
  }

  async leave(address: string): Promise<string[] | undefined> {
    const lease = await this.storage.get(leasePrefix + address);
    try {
      if (lease) await this.storage.delete(lease.key, lease.revision);
    } catch (error) {
      // It ran out, or the next server on this machine has it already.
      if (!(error instanceof ConflictError)) throw error;
      if (error.current) return undefined;
    }
    return this.#leases();
  }

  async #leases(): Promise<string[]> {
    const { records } = await this.storage.list(leasePrefix);
    return records.flatMap(({ value }) => (JSON.parse(value.toString()) as Endpoints).subsets?.[0]?.addresses?.[0]?.ip ?? []);
  }

  async #renew(ip: string): Promise<void> {
    const { storage } = this;
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
          await storage.update(key, present.revision, lease(nextGeneration(metadata.generation)), { ttlSeconds: leaseSeconds });
        }
        return;
      } catch (error) {
        if (!(error instanceof ConflictError) && !(error instanceof KeyExistsError)) throw error;
      }
    }
  }
}

/**
 * The endpoints themselves say who serves, and all servers agree on how many they are: each adds itself, and where that is one
 * too many the next one in order goes. Upstream: controlplane/reconcilers/instancecount.go.
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

  /** None where somebody has given the endpoints another form. */
  #present(): string[] {
    const { target, namespace, name } = this.endpoints;
    const { subsets = [] } = (this.client.peek(target, namespace, name) ?? {}) as Endpoints;
    return subsets.length === 1 ? (subsets[0]?.addresses ?? []).flatMap(({ ip }) => ip ?? []) : [];
  }
}
