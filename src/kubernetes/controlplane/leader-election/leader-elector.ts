import { setTimeout } from 'node:timers/promises';
import { isAlreadyExists } from '#apimachinery/api/errors';
import { nowMicro } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';

const leases: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const jitter = 1.2;

/** Durations in milliseconds. */
export interface LeaderElectionTimers {
  /** Duration after which other electors may take over from a leader that does not renew. */
  readonly leaseMs: number;
  /** Duration for which a leader retries a renewal before it steps down. */
  readonly renewMs: number;
  /** Interval between two attempts. */
  readonly retryMs: number;
}

export interface LeaderElectorOptions {
  readonly client: LoopbackClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly timers: LeaderElectionTimers;
  /** Called for each attempt that fails for another reason than another leader. */
  onError(error: unknown): void;
}

/**
 * Leader election over a lease: one participant at a time leads. Expiry is measured with the local clock, from the moment when a renewal
 * was observed. Upstream: client-go/tools/leaderelection/leaderelection.go.
 */
export class LeaderElector {
  #seen = '';
  #seenAt = -Infinity;

  constructor(private readonly options: LeaderElectorOptions) {}

  /**
   * Calls `lead` each time this participant becomes the leader, with a signal that aborts when it stops being one. The lease is released
   * when the promise of `lead` settles, or left to expire if that takes longer than its duration. Resolves after `signal` has aborted.
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    const { retryMs, leaseMs } = this.options.timers;
    while (!signal.aborted) {
      if (await this.#hold()) {
        const leading = new AbortController();
        const led = lead(AbortSignal.any([signal, leading.signal]));
        await this.#keep(signal);
        leading.abort();
        const inTime = await Promise.race([Promise.resolve(led).then(() => true), setTimeout(leaseMs, false, { ref: false })]);
        if (inTime) await this.#release();
      }
      await setTimeout(retryMs * (1 + jitter * Math.random()), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Renews until that fails for too long, or the signal aborts. */
  async #keep(signal: AbortSignal): Promise<void> {
    const { renewMs, retryMs } = this.options.timers;
    let renewedAt = performance.now();
    while (!signal.aborted && performance.now() - renewedAt < renewMs) {
      await setTimeout(retryMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) break;
      // A store that does not answer does not confirm the leader either.
      const tooLate = setTimeout(renewMs - (performance.now() - renewedAt), false, { signal, ref: false }).catch(() => false);
      if (await Promise.race([this.#hold(), tooLate])) renewedAt = performance.now();
    }
  }

  /** Acquires or renews the lease; resolves with true if this participant leads. */
  async #hold(): Promise<boolean> {
    try {
      return await this.#write();
    } catch (error) {
      if (!isAlreadyExists(error)) this.options.onError(error);
      return false;
    }
  }

  async #write(): Promise<boolean> {
    const { client, namespace, name, identity, timers } = this.options;
    const renewed = { holderIdentity: identity, leaseDurationSeconds: Math.ceil(timers.leaseMs / 1_000), renewTime: nowMicro() };
    if (!(await client.get(leases, namespace, name))) {
      const spec = { ...renewed, acquireTime: renewed.renewTime, leaseTransitions: 0 };
      await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec } as Lease);
      return true;
    }
    const written = await client.update(leases, namespace, name, (lease) => {
      const { spec = {} } = lease as Lease;
      const isOwn = spec.holderIdentity === identity;
      if (!isOwn && this.#isHeld(spec)) return undefined;
      const taken = isOwn ? {} : { acquireTime: renewed.renewTime, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
      return { ...lease, spec: { ...spec, ...renewed, ...taken } };
    });
    return written !== undefined;
  }

  #isHeld({ holderIdentity = '', leaseDurationSeconds = 0, renewTime = '' }: NonNullable<Lease['spec']>): boolean {
    const state = `${holderIdentity} ${renewTime}`;
    const now = performance.now();
    if (state !== this.#seen) {
      this.#seen = state;
      this.#seenAt = now;
    }
    return holderIdentity !== '' && this.#seenAt + leaseDurationSeconds * 1_000 > now;
  }

  /** Releases the lease, so that others need not wait for its expiry. */
  async #release(): Promise<void> {
    const { client, namespace, name, identity, onError } = this.options;
    const time = nowMicro();
    try {
      await client.update(leases, namespace, name, (lease) => {
        const { spec } = lease as Lease;
        if (spec?.holderIdentity !== identity) return undefined;
        return { ...lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time } };
      });
    } catch (error) {
      onError(error);
    }
  }
}
