import { LevelUsage } from './level-usage.ts';
import { noPressure, type Pressure } from './loop-pressure.ts';
import { Integrator } from './seat-demand.ts';

/** Estimated seats of a request. */
export interface WorkEstimate {
  readonly initialSeats: number;
  /** Seats held for `additionalMs` after the request is done, for its watchers. */
  readonly finalSeats: number;
  readonly additionalMs: number;
}

/** undefined for `queuing`: requests without a free seat are rejected. */
export interface QueuingConfig {
  readonly queuing: { readonly queues: number; readonly queueLengthLimit: number } | undefined;
}

export type Rejection = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled';

/** Requests and seats of a flow schema. An executing request may end before its seats are released. */
export interface FlowOccupancy {
  executing: number;
  seatsInUse: number;
  waiting: number;
  seatsWaiting: number;
}

/** A request that holds seats or waits for them. */
export interface SeatedRequest {
  readonly work: WorkEstimate;
  readonly totalWork: number;
  readonly seats: number;
  readonly flowSchema: string;
  readonly flow: FlowOccupancy;
  readonly queue: Queue | undefined;
  readonly arrivalR: number;
  startedAt: number;
  /** Set while the request waits. */
  decide: ((rejection: Rejection | undefined) => void) | undefined;
}

/**
 * A queue of a priority level. `nextDispatchR` is the virtual time at which its next request would start under fair sharing;
 * the queue whose next request would finish first is served first.
 */
interface Queue {
  readonly waiting: SeatedRequest[];
  waitingWork: number;
  executing: number;
  seatsInUse: number;
  nextDispatchR: number;
}

/** A queue's state for debugging. */
export interface QueueDump {
  readonly pending: readonly SeatedRequest[];
  readonly executing: number;
  readonly seatsInUse: number;
  readonly nextDispatchR: number;
}

/** Service time assumed for a request, in seconds. Upstream: fairqueuing/queueset (estimatedServiceDuration). */
const estimatedServiceSeconds = 0.003;

/**
 * Fair queuing of a priority level. A request executes immediately if seats are free; otherwise it waits in the shortest
 * queue of its flow's hand. Virtual time (`R`, in seat-seconds per active queue) advances in proportion to the used seats
 * and in inverse proportion to the active queues, so a queue that received more than its share falls behind. Only `decide`
 * may call back synchronously. Upstream: apiserver/pkg/util/flowcontrol/fairqueuing/queueset/queueset.go.
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

  /** Occupancy by flow schema, for the schemas seen so far. */
  get flows(): ReadonlyMap<string, Readonly<FlowOccupancy>> {
    return this.#flows;
  }

  #flowOf(flowSchema: string): FlowOccupancy {
    let flow = this.#flows.get(flowSchema);
    if (!flow) this.#flows.set(flowSchema, (flow = { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 }));
    return flow;
  }

  /** Current virtual time. */
  get currentR(): number {
    return this.#currentR;
  }

  /** Returns the state of the queues; empty for a level without queues. */
  dump(): readonly QueueDump[] {
    return this.#queues.map(({ waiting, executing, seatsInUse, nextDispatchR }) => ({
      pending: [...waiting],
      executing,
      seatsInUse,
      nextDispatchR,
    }));
  }

  /** Returns the queue of a request and its position there; -1 for none. */
  placeOf(request: SeatedRequest): { readonly queue: number; readonly index: number } {
    const { queue } = request;
    return queue ? { queue: this.#queues.indexOf(queue), index: queue.waiting.indexOf(request) } : { queue: -1, index: -1 };
  }

  /** Sets the number of seats. */
  set limit(seats: number) {
    this.#limit = seats;
    this.dispatch();
  }

  /**
   * Seats available now: fewer while the event loop is delayed. A level without queues ignores the delay, because it would
   * have to reject.
   */
  get #seats(): number {
    return this.#queues.length > 0 ? Math.min(this.#limit, this.pressure.most) : this.#limit;
  }

  /**
   * Starts a request, which executes (`executes`), waits, or is rejected. `hand` lists the queues of its flow. `decide` is
   * called once for a waiting request; without a rejection it then executes.
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

  /** Removes a waiting request from its queue. */
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

  /**
   * Ends a request. Its seats are released immediately, or after the additional time for its watchers. Returns its execution
   * time in milliseconds.
   */
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

  /** Returns the queue of the hand with the least waiting work. Ties go to the first one from a rotating start. */
  #queueOf(hand: readonly number[]): Queue | undefined {
    let best: Queue | undefined;
    const offset = this.#enqueues++;
    for (let i = 0; i < hand.length; i += 1) {
      const queue = this.#queues[hand[(offset + i) % hand.length] as number];
      if (queue && (!best || queue.waitingWork < best.waitingWork)) best = queue;
    }
    return best;
  }

  /** Dispatches waiting requests while seats are free. */
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

  /** Returns the queue whose next request would finish first. Ties go to the one after the last queue served. */
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

  /** True if the seats are free. A request for more seats than exist fits if no other executes. */
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

  /** Ensures that no request starts before it arrived. */
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
