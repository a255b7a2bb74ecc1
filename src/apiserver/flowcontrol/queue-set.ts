import { LevelUsage } from './level-usage.ts';
import { noPressure, type Pressure } from './loop-pressure.ts';
import { Integrator } from './seat-demand.ts';

/** How much of the server a request takes. */
export interface WorkEstimate {
  readonly initialSeats: number;
  /** Kept for `additionalMs` after the request is done, by its watchers. */
  readonly finalSeats: number;
  readonly additionalMs: number;
}

/** undefined for `queuing`: what finds no seat is rejected. */
export interface QueuingConfig {
  readonly queuing: { readonly queues: number; readonly queueLengthLimit: number } | undefined;
}

export type Rejection = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled';

/** How many of the requests of a flow schema there are, and the seats that are theirs: those that execute may go before their seats do. */
export interface FlowOccupancy {
  executing: number;
  seatsInUse: number;
  waiting: number;
  seatsWaiting: number;
}

/** A request that has, or waits for, seats. */
export interface SeatedRequest {
  readonly work: WorkEstimate;
  readonly totalWork: number;
  readonly seats: number;
  readonly flowSchema: string;
  readonly flow: FlowOccupancy;
  readonly queue: Queue | undefined;
  readonly arrivalR: number;
  startedAt: number;
  /** Set while it waits. */
  decide: ((rejection: Rejection | undefined) => void) | undefined;
}

/**
 * One of the queues of a priority level. `nextDispatchR` is the virtual time at which its next request would begin if each
 * queue had its fair share: the queue whose next request would be finished first is served first.
 */
interface Queue {
  readonly waiting: SeatedRequest[];
  waitingWork: number;
  executing: number;
  seatsInUse: number;
  nextDispatchR: number;
}

/** A queue, for people to look at. */
export interface QueueDump {
  readonly pending: readonly SeatedRequest[];
  readonly executing: number;
  readonly seatsInUse: number;
  readonly nextDispatchR: number;
}

/** Upstream: fairqueuing/queueset (estimatedServiceDuration); in seconds. */
const estimatedServiceSeconds = 0.003;

/**
 * Fair queuing of one priority level. As long as there are seats a request only takes some; else it waits in the shortest
 * queue of its flow's hand. Virtual time (`R`, seat-seconds for each active queue) runs as fast as seats are in use by as few
 * queues as are active, so a queue that gets more than its share falls behind. No method calls back into it synchronously
 * except through `decide`. Upstream: apiserver/pkg/util/flowcontrol/fairqueuing/queueset/queueset.go.
 */
export class QueueSet {
  readonly demand: Integrator;
  readonly usage: LevelUsage;
  readonly #queues: readonly Queue[];
  readonly #lengthLimit: number;
  #limit: number;
  #seatsInUse = 0;
  #seatsWaiting = 0;
  #waiting = 0;
  #executing = 0;
  #active = 0;
  #currentR = 0;
  #lastAt: number;
  #robin = 0;
  #enqueues = 0;
  readonly #flows = new Map<string, FlowOccupancy>();

  constructor(
    { queuing }: QueuingConfig,
    limit: number,
    private readonly now: () => number = () => performance.now(),
    private readonly pressure: Pressure = noPressure,
  ) {
    this.#limit = limit;
    this.#lengthLimit = queuing?.queueLengthLimit ?? 0;
    this.#queues = Array.from({ length: queuing?.queues ?? 0 }, () => ({
      waiting: [],
      waitingWork: 0,
      executing: 0,
      seatsInUse: 0,
      nextDispatchR: 0,
    }));
    this.#lastAt = now();
    this.demand = new Integrator(this.#lastAt);
    this.usage = new LevelUsage(this.#lengthLimit * this.#queues.length, this.#lastAt);
  }

  get stats(): {
    readonly waiting: number;
    readonly executing: number;
    readonly seatsInUse: number;
    readonly seatsWaiting: number;
    readonly limit: number;
  } {
    return {
      waiting: this.#waiting,
      executing: this.#executing,
      seatsInUse: this.#seatsInUse,
      seatsWaiting: this.#seatsWaiting,
      limit: this.#limit,
    };
  }

  /** By the names of the flow schemas whose requests have come here. */
  get flows(): ReadonlyMap<string, Readonly<FlowOccupancy>> {
    return this.#flows;
  }

  #flowOf(flowSchema: string): FlowOccupancy {
    let flow = this.#flows.get(flowSchema);
    if (!flow) this.#flows.set(flowSchema, (flow = { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 }));
    return flow;
  }

  /** The virtual time. */
  get currentR(): number {
    return this.#currentR;
  }

  /** The queues as they are now; none where nothing waits at this level. */
  dump(): readonly QueueDump[] {
    return this.#queues.map(({ waiting, executing, seatsInUse, nextDispatchR }) => ({
      pending: [...waiting],
      executing,
      seatsInUse,
      nextDispatchR,
    }));
  }

  /** In which queue a request is, and where it waits there; -1 for none. */
  placeOf(request: SeatedRequest): { readonly queue: number; readonly index: number } {
    const { queue } = request;
    return queue ? { queue: this.#queues.indexOf(queue), index: queue.waiting.indexOf(request) } : { queue: -1, index: -1 };
  }

  /** Allows as many seats from now on. */
  set limit(seats: number) {
    this.#limit = seats;
    this.dispatch();
  }

  /** What there is to be had now: while the event loop is late, less of it. What has no queue would be rejected, and is not held back. */
  get #seats(): number {
    return this.#queues.length > 0 ? Math.min(this.#limit, this.pressure.most) : this.#limit;
  }

  /**
   * A request that executes (`executes`), waits, or is rejected. `hand`: the queues of its flow. `decide` is called once for a
   * request that waits: without a rejection it executes now.
   */
  start(
    hand: readonly number[],
    work: WorkEstimate,
    flowSchema: string,
    decide: (rejection: Rejection | undefined) => void,
  ): { readonly request: SeatedRequest; readonly executes: boolean } | Rejection {
    const now = this.#syncTime();
    const seats = Math.max(work.initialSeats, work.finalSeats);
    const totalWork = work.initialSeats * estimatedServiceSeconds + (work.finalSeats * work.additionalMs) / 1000;
    const fits = this.#waiting === 0 && this.#accommodates(seats);
    const queue = this.#queueOf(hand);
    if (!queue && !fits) return 'concurrency-limit';
    const request: SeatedRequest = {
      work,
      totalWork,
      seats,
      flowSchema,
      flow: this.#flowOf(flowSchema),
      queue,
      arrivalR: this.#currentR,
      startedAt: now,
      decide: undefined,
    };
    if (fits) {
      if (queue) this.#activate(queue);
      this.#execute(request);
      return { request, executes: true };
    }
    if (!queue || (this.#seatsInUse >= this.#seats && queue.waiting.length >= this.#lengthLimit)) return 'queue-full';
    request.decide = decide;
    this.#activate(queue);
    queue.waiting.push(request);
    queue.waitingWork += totalWork;
    this.#waiting += 1;
    this.#seatsWaiting += seats;
    request.flow.waiting += 1;
    request.flow.seatsWaiting += seats;
    this.#note(now);
    this.dispatch();
    return { request, executes: request.decide === undefined };
  }

  /** Takes a request that waits out of its queue. */
  cancel(request: SeatedRequest, rejection: Rejection): void {
    const { queue, decide } = request;
    const index = queue?.waiting.indexOf(request) ?? -1;
    if (!queue || !decide || index < 0) return;
    const now = this.#syncTime();
    this.#removeWaiting(queue, index);
    this.#bound(queue);
    this.#deactivate(queue);
    this.#note(now);
    request.decide = undefined;
    decide(rejection);
  }

  /** The request is done. Its seats are free at once, or after the time that its watchers take. Returns how many milliseconds it executed. */
  finish(request: SeatedRequest): number {
    const now = this.#syncTime();
    const { queue, work } = request;
    this.#executing -= 1;
    request.flow.executing -= 1;
    if (queue) {
      queue.executing -= 1;
      queue.nextDispatchR -= work.initialSeats * (estimatedServiceSeconds - (now - request.startedAt) / 1000);
      this.#bound(queue);
    }
    if (work.additionalMs <= 0) this.#release(request, now);
    else {
      setTimeout(() => {
        this.#release(request, this.#syncTime());
        this.dispatch();
      }, work.additionalMs).unref();
    }
    if (this.#waiting > 0) this.dispatch();
    return now - request.startedAt;
  }

  #release({ seats, queue, flow }: SeatedRequest, now: number): void {
    this.#seatsInUse -= seats;
    flow.seatsInUse -= seats;
    if (queue) {
      queue.seatsInUse -= seats;
      this.#deactivate(queue);
    }
    this.#note(now);
  }

  #execute(request: SeatedRequest): void {
    const { queue, seats, flow } = request;
    const now = this.now();
    request.startedAt = now;
    this.#executing += 1;
    this.pressure.executing(this.#executing);
    this.#seatsInUse += seats;
    flow.executing += 1;
    flow.seatsInUse += seats;
    if (queue) {
      queue.executing += 1;
      queue.seatsInUse += seats;
      queue.nextDispatchR += request.totalWork;
    }
    this.#note(now);
  }

  /** The queue of the hand with the least work waiting; of equals the first one, from another place each time. */
  #queueOf(hand: readonly number[]): Queue | undefined {
    let best: Queue | undefined;
    const offset = this.#enqueues++;
    for (let i = 0; i < hand.length; i += 1) {
      const queue = this.#queues[hand[(offset + i) % hand.length] as number];
      if (queue && (!best || queue.waitingWork < best.waitingWork)) best = queue;
    }
    return best;
  }

  /** Lets in what waits, as far as there are seats. */
  dispatch(): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#seats) {
      const queue = this.#nextQueue();
      const request = queue?.waiting[0];
      if (!queue || !request || !this.#accommodates(request.seats)) return;
      this.#removeWaiting(queue, 0);
      this.#execute(request);
      this.#bound(queue);
      const { decide } = request;
      request.decide = undefined;
      decide?.(undefined);
    }
  }

  /** The queue whose next request would be finished first; of equals the one after the last that was taken. */
  #nextQueue(): Queue | undefined {
    let best: Queue | undefined;
    let bestFinish = Number.POSITIVE_INFINITY;
    let bestIndex = this.#robin;
    for (let i = 1; i <= this.#queues.length; i += 1) {
      const index = (this.#robin + i) % this.#queues.length;
      const queue = this.#queues[index] as Queue;
      const [oldest] = queue.waiting;
      if (!oldest) continue;
      const finish = queue.nextDispatchR + oldest.totalWork;
      if (finish >= bestFinish) continue;
      bestFinish = finish;
      best = queue;
      bestIndex = index;
    }
    this.#robin = bestIndex;
    return best;
  }

  /** A request that asks for more seats than there are gets in when nobody else is there. */
  #accommodates(seats: number): boolean {
    const most = this.#seats;
    return seats > most ? this.#executing === 0 && most > 0 : this.#seatsInUse + seats <= most;
  }

  #removeWaiting(queue: Queue, index: number): void {
    const [request] = queue.waiting.splice(index, 1);
    if (!request) return;
    queue.waitingWork = queue.waiting.length === 0 ? 0 : queue.waitingWork - request.totalWork;
    this.#waiting -= 1;
    this.#seatsWaiting -= request.seats;
    request.flow.waiting -= 1;
    request.flow.seatsWaiting -= request.seats;
  }

  /** No request begins before it came. */
  #bound(queue: Queue): void {
    const [oldest] = queue.waiting;
    if (oldest && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR;
  }

  #activate(queue: Queue): void {
    if (queue.waiting.length > 0 || queue.seatsInUse > 0 || queue.executing > 0) return;
    this.#active += 1;
    queue.nextDispatchR = this.#currentR;
  }

  #deactivate(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.seatsInUse === 0 && queue.executing === 0) this.#active -= 1;
  }

  #syncTime(): number {
    const now = this.now();
    if (this.#active > 0) {
      const ratio = Math.min(this.#seatsInUse + this.#seatsWaiting, this.#seats) / this.#active;
      this.#currentR += (ratio * (now - this.#lastAt)) / 1000;
    }
    this.#lastAt = now;
    return now;
  }

  #note(now: number): void {
    const wanted = this.#seatsInUse + this.#seatsWaiting;
    this.demand.set(wanted, now);
    this.usage.demand.set(wanted, now);
    this.usage.seats.set(this.#seatsInUse, now);
    this.usage.executing.set(this.#executing, now);
    this.usage.waiting.set(this.#waiting, now);
  }
}
