import type { Clock } from 'kubenest/sdk';
import type { ClusterEvent } from '../framework/framework.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import { type BackOff, defaultBackOff } from './back-off.ts';
import { Heap } from './heap.ts';

/** Time after which an unschedulable pod is tried again, whatever happened. */
const maxUnschedulableMs = 5 * 60_000;
const flushIntervalMs = 30_000;

type Place = 'active' | 'backOff' | 'unschedulable' | 'gated' | 'inFlight';

/** A pod of the queue. */
export interface QueuedPod {
  pod: PodInfo;
  /** Number of attempts. */
  attempts: number;
  /** Filters that rejected it in its last attempt; empty if the attempt failed for another reason. */
  rejectedBy: ReadonlySet<string>;
  readonly order: number;
  place: Place;
  /** Time of the last move between places. */
  since: number;
}

/** An entry of a heap; it is stale if its pod has moved since. */
interface Entry {
  readonly queued: QueuedPod;
  readonly since: number;
  readonly at: number;
}

/**
 * Pods that wait for a node.
 *
 * | place | a pod is here | it leaves |
 * |---|---|---|
 * | gated | while it has scheduling gates | when its last gate is removed |
 * | active | until it is its turn: by priority, then first come | when it is taken |
 * | inFlight | from then until it is bound or fails | |
 * | unschedulable | after no node could take it | to backOff or active, by an event that may help or after five minutes |
 * | backOff | until 1 s, 2 s, 4 s … 10 s (or as configured) after its last failure | to active |
 *
 * Upstream: pkg/scheduler/backend/queue/scheduling_queue.go.
 */
export class SchedulingQueue implements Disposable {
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active = new Heap<Entry>(
    (a, b) => a.queued.pod.priority > b.queued.pod.priority || (a.queued.pod.priority === b.queued.pod.priority && a.at < b.at),
  );
  readonly #backOff = new Heap<Entry>((a, b) => a.at < b.at);
  readonly #stopFlush: () => void;
  #cancelTimer: (() => void) | undefined;
  #orders = 0;

  /** `wake` is called whenever a pod becomes active; `eventsOf` returns the events that may help after a filter's rejection. */
  constructor(
    private readonly clock: Clock,
    private readonly wake: () => void,
    private readonly eventsOf: (filter: string) => readonly ClusterEvent[],
    private readonly backOff: BackOff = defaultBackOff,
  ) {
    this.#stopFlush = clock.every(flushIntervalMs, () => this.#flush());
  }

  get size(): number {
    return this.#pods.size;
  }

  /** Adds a pod, or takes over its new version. An unschedulable pod that changed is tried again. */
  add(pod: PodInfo): void {
    const queued = this.#pods.get(pod.uid);
    if (!queued) {
      const added: QueuedPod = {
        pod,
        attempts: 0,
        rejectedBy: new Set(),
        order: (this.#orders += 1),
        place: 'gated',
        since: this.clock.now(),
      };
      this.#pods.set(pod.uid, added);
      if (!isGated(pod)) this.#activate(added);
      return;
    }
    const wasGated = queued.place === 'gated';
    const isChanged = queued.pod.pod.metadata.generation !== pod.pod.metadata.generation || queued.pod.groupKey !== pod.groupKey;
    queued.pod = pod;
    if (wasGated && !isGated(pod)) this.#activate(queued);
    else if (queued.place === 'unschedulable' && isChanged) this.#retry(queued);
    else if (queued.place === 'active' && isChanged) this.#activate(queued);
  }

  delete(uid: string): void {
    this.#pods.delete(uid);
  }

  /** Takes the next pod; undefined if none is active. */
  pop(): QueuedPod | undefined {
    for (let entry = this.#active.pop(); entry; entry = this.#active.pop()) {
      const { queued } = entry;
      if (!this.#isCurrent(entry, 'active')) continue;
      this.#move(queued, 'inFlight');
      queued.attempts += 1;
      return queued;
    }
    return undefined;
  }

  /** Keeps a pod that no node could take until an event may help it. */
  markUnschedulable(queued: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    if (this.#pods.get(queued.pod.uid) !== queued) return;
    queued.rejectedBy = rejectedBy;
    this.#move(queued, 'unschedulable');
  }

  /** Tries a pod again after its back-off, because the attempt failed by an error. */
  markFailed(queued: QueuedPod): void {
    if (this.#pods.get(queued.pod.uid) !== queued) return;
    queued.rejectedBy = new Set();
    this.#move(queued, 'unschedulable');
    this.#retry(queued);
  }

  /** Moves the unschedulable pods that the event may help. */
  happened(event: ClusterEvent): void {
    for (const queued of this.#pods.values()) {
      if (queued.place !== 'unschedulable') continue;
      const { rejectedBy } = queued;
      if (rejectedBy.size === 0 || [...rejectedBy].some((filter) => this.eventsOf(filter).includes(event))) this.#retry(queued);
    }
  }

  [Symbol.dispose](): void {
    this.#stopFlush();
    this.#cancelTimer?.();
    this.#pods.clear();
  }

  #move(queued: QueuedPod, place: Place): void {
    queued.place = place;
    queued.since = this.clock.now();
  }

  #isCurrent({ queued, since }: Entry, place: Place): boolean {
    return queued.place === place && queued.since === since && this.#pods.get(queued.pod.uid) === queued;
  }

  #activate(queued: QueuedPod): void {
    this.#move(queued, 'active');
    this.#active.push({ queued, since: queued.since, at: queued.order });
    this.wake();
  }

  /** Activates a failed pod once its back-off is over. */
  #retry(queued: QueuedPod): void {
    const readyAt = queued.since + backOffMs(queued.attempts, this.backOff);
    if (readyAt <= this.clock.now()) return this.#activate(queued);
    this.#move(queued, 'backOff');
    this.#backOff.push({ queued, since: queued.since, at: readyAt });
    this.#setTimer();
  }

  #setTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const next = this.#backOff.peek();
    if (next) this.#cancelTimer = this.clock.after(Math.max(0, next.at - this.clock.now()), () => this.#endBackOffs());
  }

  #endBackOffs(): void {
    for (let next = this.#backOff.peek(); next && next.at <= this.clock.now(); next = this.#backOff.peek()) {
      this.#backOff.pop();
      if (this.#isCurrent(next, 'backOff')) this.#activate(next.queued);
    }
    this.#setTimer();
  }

  #flush(): void {
    const before = this.clock.now() - maxUnschedulableMs;
    for (const queued of this.#pods.values()) if (queued.place === 'unschedulable' && queued.since <= before) this.#retry(queued);
  }
}

function isGated({ pod }: PodInfo): boolean {
  return Boolean(pod.spec?.schedulingGates?.length);
}

/** Back-off after a number of attempts; by default 1 s, 2 s, 4 s, 8 s, 10 s. */
export function backOffMs(attempts: number, { initialMs, maxMs }: BackOff = defaultBackOff): number {
  return Math.min(initialMs * 2 ** Math.max(0, attempts - 1), maxMs);
}
