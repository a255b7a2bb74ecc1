import { type Clock, deepEqual } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
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
  /** Place among all pods that were taken because it was their turn; 0 before. */
  firstTurn: number;
  /** Plugin that keeps it out of the queue. */
  gate: string | undefined;
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
 * | gated | while a plugin keeps it out, as for scheduling gates | when no plugin does |
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
  #turns = 0;

  /**
   * `wake` is called whenever a pod becomes active; `eventsOf` returns the events that may help after a filter's rejection; `gateOf`
   * returns the plugin that keeps a pod out of the queue.
   */
  constructor(
    private readonly clock: Clock,
    private readonly wake: () => void,
    private readonly eventsOf: (filter: string) => readonly ClusterEvent[],
    private readonly gateOf: (pod: PodInfo) => string | undefined = (pod) => (isGated(pod) ? 'SchedulingGates' : undefined),
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
        firstTurn: 0,
        gate: undefined,
        rejectedBy: new Set(),
        order: (this.#orders += 1),
        place: 'gated',
        since: this.clock.now(),
      };
      this.#pods.set(pod.uid, added);
      this.#admit(added);
      return;
    }
    const isChanged = queued.pod.groupKey !== pod.groupKey || isSpecOrClaimChange(queued.pod.pod, pod.pod);
    queued.pod = pod;
    if (queued.place === 'gated') this.#admit(queued);
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
      queued.firstTurn ||= ++this.#turns;
      return queued;
    }
    return undefined;
  }

  /** Takes all pods that match and wait for an attempt, whether or not it is their turn. */
  takeAll(matches: (pod: PodInfo) => boolean): QueuedPod[] {
    const taken = [...this.#pods.values()].filter(({ place, pod }) => place !== 'gated' && place !== 'inFlight' && matches(pod));
    for (const queued of taken) {
      this.#move(queued, 'inFlight');
      queued.attempts += 1;
    }
    return taken;
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

  /** Moves the unschedulable and gated pods that the event may help, if it is relevant to them. */
  happened(event: ClusterEvent, isRelevant: (pod: PodInfo) => boolean = () => true): void {
    const helps = (filter: string): boolean => this.eventsOf(filter).includes(event);
    for (const queued of this.#pods.values()) {
      const { place, gate, rejectedBy, pod } = queued;
      if (place === 'gated') {
        if (gate !== undefined && helps(gate) && isRelevant(pod)) this.#admit(queued);
      } else if (place === 'unschedulable' && (rejectedBy.size === 0 || [...rejectedBy].some(helps)) && isRelevant(pod))
        this.#retry(queued);
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

  /** Activates a pod unless a plugin keeps it out of the queue. */
  #admit(queued: QueuedPod): void {
    queued.gate = this.gateOf(queued.pod);
    if (queued.gate === undefined) this.#activate(queued);
    else if (queued.place !== 'gated') this.#move(queued, 'gated');
  }

  #activate(queued: QueuedPod): void {
    this.#move(queued, 'active');
    this.#active.push({ queued, since: queued.since, at: queued.order });
    this.wake();
  }

  /** Activates a failed pod once its back-off is over. */
  #retry(queued: QueuedPod): void {
    const readyAt = queued.since + backOffMs(queued.attempts, this.backOff);
    if (readyAt <= this.clock.now()) return this.#admit(queued);
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
      if (this.#isCurrent(next, 'backOff')) this.#admit(next.queued);
    }
    this.#setTimer();
  }

  #flush(): void {
    const before = this.clock.now() - maxUnschedulableMs;
    for (const queued of this.#pods.values()) if (queued.place === 'unschedulable' && queued.since <= before) this.#retry(queued);
  }
}

/** True if the pod's specification changed, or claims were generated for it. */
function isSpecOrClaimChange(old: Pod, pod: Pod): boolean {
  return (
    old.metadata.generation !== pod.metadata.generation || !deepEqual(old.status?.resourceClaimStatuses, pod.status?.resourceClaimStatuses)
  );
}

/** True if the pod has scheduling gates. */
export function isGated({ pod }: PodInfo): boolean {
  return Boolean(pod.spec?.schedulingGates?.length);
}

/** Back-off after a number of attempts; by default 1 s, 2 s, 4 s, 8 s, 10 s. */
export function backOffMs(attempts: number, { initialMs, maxMs }: BackOff = defaultBackOff): number {
  return Math.min(initialMs * 2 ** Math.max(0, attempts - 1), maxMs);
}
