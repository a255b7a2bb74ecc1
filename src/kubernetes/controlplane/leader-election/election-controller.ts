import { isAlreadyExists } from '#apimachinery/api/errors';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
import { electedLease, isCandidateExpired, isElectionNeeded, isPending, newLease, nextBallot, type Outcome } from './election.ts';

const leases: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const candidates: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates' };
/** After so long a lease is looked at again, so that it is seen when nobody renews it. */
const requeueMs = 5_000;

/**
 * Elects the holders of leases that components have said to be candidates for. What is to be done next follows from the lease and the
 * candidates alone, so that a server that takes over goes on where the last one was.
 * Upstream: pkg/controlplane/controller/leaderelection/leaderelection_controller.go.
 */
export class ElectionController {
  readonly #leases;
  readonly #candidates;
  readonly #due = new Map<string, LeaseName>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #running = false;
  #ended = false;

  constructor(
    private readonly client: LoopbackClient,
    private readonly onError: (error: unknown) => void,
    private readonly now: () => number = Date.now,
  ) {
    this.#leases = client.informer<Lease>(leases);
    this.#candidates = client.informer<LeaseCandidate>(candidates);
  }

  /** Until it is disposed of. */
  start(): Disposable {
    const watches = new DisposableStack();
    watches.defer(() => {
      this.#ended = true;
      for (const timer of this.#timers.values()) clearTimeout(timer);
    });
    watches.use(
      this.#leases.subscribe((_, { metadata }) => this.#enqueue({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })),
    );
    watches.use(
      this.#candidates.subscribe((_, candidate) => {
        // One that is being asked is part of an election that goes on.
        if (!isPending(candidate)) this.#enqueue({ namespace: candidate.metadata.namespace ?? '', name: candidate.spec?.leaseName ?? '' });
      }),
    );
    return watches;
  }

  #enqueue(lease: LeaseName): void {
    this.#due.set(`${lease.namespace}/${lease.name}`, lease);
    if (!this.#running) void this.#work();
  }

  async #work(): Promise<void> {
    this.#running = true;
    for (const [key, lease] of this.#due) {
      this.#due.delete(key);
      if (this.#ended) break;
      try {
        if (await this.reconcile(lease)) this.#enqueueLater(key, lease);
      } catch (error) {
        if (!this.#ended) this.onError(error);
      }
    }
    this.#running = false;
  }

  #enqueueLater(key: string, lease: LeaseName): void {
    if (this.#ended) return;
    clearTimeout(this.#timers.get(key));
    const look = (): void => {
      this.#timers.delete(key);
      this.#enqueue(lease);
    };
    this.#timers.set(key, setTimeout(look, requeueMs).unref());
  }

  /** One step of an election; whether the lease is to be looked at again. Rejects where nobody can be elected. */
  async reconcile({ namespace, name }: LeaseName): Promise<boolean> {
    const now = this.now();
    const present = this.#candidates.list(namespace).filter((one) => one.spec?.leaseName === name && !isCandidateExpired(one, now));
    if (present.length === 0) return false;
    try {
      if (!isElectionNeeded(this.#leases.get(namespace, name), present, now)) return true;
    } catch (error) {
      this.onError(error);
      return true;
    }
    const ballot = nextBallot(present, now);
    if ('ask' in ballot) await this.#ask(ballot.ask, now);
    else await this.#elect({ namespace, name }, ballot, now);
    return true;
  }

  /** An answer is a renewTime after the pingTime. */
  async #ask(asked: readonly LeaseCandidate[], now: number): Promise<void> {
    const pingTime = formatMicroTime(now);
    const asking = asked.map(({ metadata }) =>
      this.client.update(candidates, metadata.namespace ?? '', metadata.name ?? '', (candidate) => ({
        ...candidate,
        spec: { ...(candidate as LeaseCandidate).spec, pingTime },
      })),
    );
    await Promise.all(asking).catch(this.onError);
  }

  async #elect({ namespace, name }: LeaseName, outcome: Outcome, now: number): Promise<void> {
    try {
      await this.client.create(leases, newLease(namespace, name, outcome, now));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.client.update(leases, namespace, name, (lease) => electedLease(lease as Lease, outcome, now));
    }
  }

  /** Deletes candidates that were not heard of for half an hour. Upstream: leasecandidategc_controller.go. */
  async collectExpired(): Promise<void> {
    const now = this.now();
    const expired = this.#candidates.list().filter((one) => isCandidateExpired(one, now));
    await Promise.all(
      expired.map(async ({ metadata: { namespace = '', name = '' } }) => {
        const present = (await this.client.get(candidates, namespace, name)) as LeaseCandidate | undefined;
        if (present && isCandidateExpired(present, now)) await this.client.delete(candidates, namespace, name);
      }),
    );
  }
}

interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}
