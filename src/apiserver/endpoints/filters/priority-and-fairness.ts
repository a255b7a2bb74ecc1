import { Buffer } from 'node:buffer';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';
import type { Place, Roster } from '#apiserver/request/roster';
import type { Classification, FlowController } from '#apiserver/flowcontrol/flow-controller';
import type { LiveRequest } from '#apiserver/flowcontrol/live-request';
import type { FlowMetrics } from '#apiserver/flowcontrol/flow-metrics';
import type { SeatedRequest } from '#apiserver/flowcontrol/queue-set';
import type { WatchTracker } from '#apiserver/flowcontrol/watch-tracker';
import type { WorkEstimator } from '#apiserver/flowcontrol/work-estimator';

/** Flow control of requests. */
export interface FlowControl {
  readonly controller: FlowController;
  readonly estimator: WorkEstimator;
  readonly watches: WatchTracker;
  readonly metrics: FlowMetrics;
  /** Requests that wait or execute asynchronously. */
  readonly live: Roster<LiveRequest>;
}

const text = Buffer.from('Too many requests, please try again later.\n');
const maxWaitMs = 60_000;
const reads = new Set(['get', 'list', 'watch']);

function kindOf({ info }: RequestContext): 'readOnly' | 'mutating' {
  return reads.has(info.verb) ? 'readOnly' : 'mutating';
}

/**
 * Acquires the seats of a request, waits for them in a queue of its flow, or responds with 429. A watch holds its seats until it
 * has started; other long-running requests need none. If seats are free, a request stays synchronous. Upstream:
 * server/filters/priority-and-fairness.go.
 */
export function withPriorityAndFairness(
  { controller, estimator, watches, metrics, live }: FlowControl,
  requestTimeoutMs: number,
  observe: (inFlight: { readonly readOnly: number; readonly mutating: number }) => void,
): Filter {
  const inFlight = { readOnly: 0, mutating: 0 };
  const waiting = { readOnly: 0, mutating: 0 };
  const usage = metrics.readVersusWrite;
  return (next) => (context) => {
    const isWatch = context.info.verb === 'watch' && context.info.isResourceRequest;
    if (context.longRunning && !isWatch) return next(context);
    const classification = controller.classify(context.authenticatedUser, context.info);
    if (!classification) return next(context);
    const { level, hand, flowSchema, flowSchemaUid } = classification;
    context.headers.push('X-Kubernetes-PF-FlowSchema-UID', flowSchemaUid, 'X-Kubernetes-PF-PriorityLevel-UID', level.uid);
    const work = estimator.estimate(context, level.maxSeats);
    metrics.of(classification).estimated(Math.max(work.initialSeats, work.finalSeats));
    let decided: ((executes: boolean) => void) | undefined;
    const started = level.queues.start(hand, work, flowSchema, (rejection) => {
      if (rejection) metrics.rejected(classification, rejection);
      decided?.(rejection === undefined);
    });
    if (typeof started === 'string') {
      metrics.rejected(classification, started);
      return refuse(context, classification);
    }
    const { request } = started;
    if (started.executes) return execute(next, context, classification, request);
    const place = live.add({ request, context });
    const kind = kindOf(context);
    const queuedAt = performance.now();
    usage.waiting[kind].set((waiting[kind] += 1), queuedAt);
    return new Promise<boolean>((resolve) => {
      decided = resolve;
      const wait = Math.min(maxWaitMs, (context.deadline > 0 ? context.deadline - context.receivedAt : requestTimeoutMs) / 4);
      const timer = setTimeout(() => level.queues.cancel(request, 'time-out'), wait).unref();
      context.exchange.onClose(() => {
        clearTimeout(timer);
        level.queues.cancel(request, 'cancelled');
      });
    }).then((executes) => {
      const dispatchedAt = performance.now();
      usage.waiting[kind].set((waiting[kind] -= 1), dispatchedAt);
      context.waited(queuedAt, dispatchedAt);
      metrics.waited(classification, performance.now() - context.receivedAt, executes);
      live.remove(place);
      if (executes) return execute(next, context, classification, request);
      refuse(context, classification);
    });
  };

  function execute(next: Handler, context: RequestContext, classification: Classification, request: SeatedRequest): void | Promise<void> {
    const kind = kindOf(context);
    inFlight[kind] += 1;
    usage.executing[kind].set(inFlight[kind], performance.now());
    observe(inFlight);
    const series = metrics.of(classification);
    series.dispatched();
    const isWatch = context.info.verb === 'watch' && context.info.isResourceRequest;
    if (isWatch) context.exchange.onClose(watches.register(context.info));
    let place: Place<LiveRequest> | undefined;
    const finish = (): void => {
      inFlight[kind] -= 1;
      usage.executing[kind].set(inFlight[kind], performance.now());
      if (place) live.remove(place);
      observe(inFlight);
      series.executed(isWatch ? 'watch' : 'regular', classification.level.queues.finish(request));
    };
    let result: void | Promise<void>;
    try {
      result = next(context);
    } catch (error) {
      finish();
      throw error;
    }
    if (result === undefined) finish();
    else {
      place = live.add({ request, context });
      context.whenSettled(finish);
    }
    return result;
  }

  function refuse(context: RequestContext, { level }: Classification): void {
    if (context.exchange.closed) return;
    level.dropped.record(Math.floor(Date.now() / 1000));
    context.headers.push('Retry-After', String(level.dropped.retryAfter));
    respondBytes(context, 429, 'text/plain; charset=utf-8', text);
  }
}
