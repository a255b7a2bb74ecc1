import { isAlreadyExists } from '#apimachinery/api/errors';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
import { electedLease, isCandidateExpired, isElectionNeeded, isPending, newLease, nextBallot, type Outcome } from './election.ts';

const leases: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const candidates: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates' };
/** Interval after which a lease is checked again, so that a missing renewal is noticed. */
const requeueMs = 5_000;

/**
 * Elects holders of leases among their candidates. The next step depends only on the lease and the candidates, so that another server can
 * continue an election. Upstream: pkg/controlplane/controller/leaderelection/leaderelection_controller.go.
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

  /** Runs until the result is disposed of. */
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
        // A pending candidate belongs to an election in progress.
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

  /** Runs one step of an election; resolves with true if the lease is to be checked again. Rejects if no candidate can be elected. */
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

  /** Pings the candidates: an answer is a renewTime after the pingTime. */
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

  /** Deletes candidates that have not renewed for half an hour. Upstream: leasecandidategc_controller.go. */
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
