import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Clock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import { aborted } from './aborted.ts';
import {
  type ControllerOptions,
  type ReconcileContext,
  type Reconciler,
  type ReconcileRequest,
  type RequestMapper,
  watchesOf,
} from './controller.ts';
import type { ControllerMetrics, ReconcileObserver, ReconcileOutcome } from './controller-metrics.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { controllerOf } from './owner-references.ts';
import type { ReconcileTraces } from './reconcile-traces.ts';
import type { LateRequestQueue } from './request-queue.ts';
import { itemRateLimiter } from './rate-limiter.ts';
import { runSchedules } from './schedules.ts';
import { keyOf, type SharedInformer, type TakenInformers } from './shared-informer.ts';
import { WorkQueue } from './work-queue.ts';

const defaultTimeoutMs = 60_000;
/** Time after which it is logged that a controller waits for its resources. */
const lateMs = 5_000;
/** Duration of a turn of a reconcile from which it is logged: meanwhile, the server answers no request. */
const longTurnMs = 500;

export interface ControllerParts {
  readonly options: ControllerOptions;
  readonly controller: Reconciler;
  /** Traces of the reconciles; undefined: none. */
  readonly traces?: ReconcileTraces | undefined;
  /** Requests from the controller itself. */
  readonly requests?: LateRequestQueue | undefined;
  /** State of its schedules; undefined: scheduled methods are not called. */
  readonly store?: KeyValueStore | undefined;
  readonly informers: TakenInformers;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Reports a failure other than that of a reconcile, with the function that failed. Default: it is logged. */
  readonly onFault?: ((what: string, error: unknown) => void) | undefined;
}

/** Runs one controller: informers fill its queue, and workers reconcile the keys of the queue. */
export class ControllerRunner {
  readonly #queue: WorkQueue;
  readonly #observer: ReconcileObserver;
  readonly #subscriptions: Disposable[] = [];

  constructor(readonly parts: ControllerParts) {
    const { options, metrics, clock } = parts;
    this.#queue = new WorkQueue({
      clock,
      rateLimiter: itemRateLimiter(options.minBackoffMs, options.maxBackoffMs),
      metrics: metrics.queue(options.name),
    });
    this.#observer = metrics.reconciles(options.name);
  }

  get name(): string {
    return this.parts.options.name;
  }

  /** Number of objects that wait for a worker. */
  get pending(): number {
    return this.#queue.length;
  }

  /** Runs until the signal aborts; resolves once the reconciles in progress have ended. A runner runs once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#subscribe();
    const stop = (): void => this.#queue.shutDown();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([this.#whenSynced(), aborted(signal)]);
      if (signal.aborted) return;
      const { controller, options } = this.parts;
      const workers = controller.reconcile ? Array.from({ length: options.concurrency ?? 1 }, () => this.#work(signal)) : [];
      await Promise.all([...workers, this.#runOwn(signal), this.#runScheduled(signal)]);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
      this.#queue.clear();
      for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    }
  }

  /** Resolves when the controller knows the objects of its resources, among them custom resources that are not served yet. */
  async #whenSynced(): Promise<void> {
    const { clock, informers, logger } = this.parts;
    const missing = new Map(informers.taken);
    const cancel = clock.after(lateMs, () => {
      const reason = `${[...missing.values()].sort().join(', ')}: not served yet`;
      logger.warn({ controller: this.name, reason }, `controller ${this.name} waits for its resources`);
    });
    await Promise.all([...missing.keys()].map((informer) => informer.synced.then(() => missing.delete(informer))));
    cancel();
  }

  async #runOwn(signal: AbortSignal): Promise<void> {
    try {
      await this.parts.controller.run?.(signal);
    } catch (error) {
      if (!signal.aborted) this.#fault('`run`', error);
    }
  }

  async #runScheduled(signal: AbortSignal): Promise<void> {
    const { clock, controller, store } = this.parts;
    const onError = (method: string, error: unknown): void => this.#fault(`the schedule \`${method}\``, error);
    try {
      if (store) await runSchedules(controller, { clock, store, onError }, signal);
    } catch (error) {
      this.#fault('its schedules', error);
    }
  }

  /** Adds requests for the objects of `for`, `owns` and the watched resources. */
  #subscribe(): void {
    const { options, controller, informers, requests } = this.parts;
    if (requests)
      this.#subscriptions.push(
        requests.connect({
          add: (request) => this.#enqueue(request, 'by itself'),
          addAfter: (request, delayMs) => this.#enqueueAfter(keyOfRequest(request), delayMs),
        }),
      );
    const follow = ({ resource }: GroupResource, informer: SharedInformer, map: RequestMapper, what = ''): void => {
      const enqueue = (type: string, object: KubeObject, old?: KubeObject): void => {
        try {
          for (const request of map(object, old)) {
            if (!isRequest(request)) throw new Error('it returned something else than requests');
            this.#enqueue(request, `${type} ${resource} ${keyOf(object)}`);
          }
        } catch (error) {
          this.#fault(what, error);
        }
      };
      this.#subscriptions.push(
        informer.handle({
          added: (object) => enqueue('ADDED', object),
          updated: (object, old) => enqueue('MODIFIED', object, old),
          deleted: (object) => enqueue('DELETED', object),
        }),
      );
    };
    const { for: main, filter, owns = [] } = options;
    const isLeftOut = (object: KubeObject, old: KubeObject | undefined): boolean => {
      try {
        return filter !== undefined && !filter(object, old);
      } catch (error) {
        // An object that is reconciled without need is better than one that is forgotten.
        this.#fault('`filter`', error);
        return false;
      }
    };
    if (main)
      follow(main, informers.for(main), (object, old) => {
        const { namespace = '', name = '' } = object.metadata;
        return isLeftOut(object, old) ? [] : [{ namespace, name }];
      });
    for (const owned of owns) follow(owned, informers.for(owned), (object, old) => ownersOf(options, object, old));
    for (const { resource, method } of watchesOf(controller)) {
      const map = (controller as unknown as Record<string, RequestMapper>)[method] as RequestMapper;
      follow(resource, informers.for(resource), map.bind(controller), `\`${method}\``);
    }
  }

  /** `trigger`: the change that leads to the request, for the trace. */
  #enqueue(request: ReconcileRequest, trigger: string): void {
    const key = keyOfRequest(request);
    this.parts.traces?.queued(key, trigger);
    this.#queue.add(key);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.get();
      if (key === undefined) return;
      if (signal.aborted) return this.#queue.done(key);
      const work = this.#reconcile(key, signal);
      // A reconcile that ignores its timeout keeps its object, so that it never runs twice for it, but not the worker.
      await Promise.race([work.counted, work.ended]);
      void work.ended.then(() => this.#queue.done(key));
    }
  }

  /** `counted`: the outcome is decided, perhaps by the timeout. `ended`: the controller's promise is settled. */
  #reconcile(key: string, shutdown: AbortSignal): { readonly counted: Promise<void>; readonly ended: Promise<void> } {
    const { clock, controller, options } = this.parts;
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const timeout = new AbortController();
    const began = clock.now();
    const { promise: counted, resolve } = Promise.withResolvers<void>();
    let isCounted = false;
    const count = (outcome: ReconcileOutcome): void => {
      if (isCounted) return;
      isCounted = true;
      this.#observer.finished(outcome, clock.now() - began);
      resolve();
    };
    const cancel = clock.after(timeoutMs, () => {
      const error = new Error(`no result within ${timeoutMs} ms`);
      timeout.abort(error);
      if (isCounted) return;
      this.#failed(key, error);
      this.#requeue(key, 'timeout');
      count('error');
    });
    this.#observer.started();
    const trace = this.parts.traces?.begin(key);
    const run = async (): Promise<void> => {
      let message: string | undefined;
      try {
        const context = new Context([shutdown, timeout], this.#queue.requeues(key));
        const reconciling = controller.reconcile?.(requestOf(key), context);
        this.#turnEnded(key, clock.now() - began);
        const result = (await reconciling) ?? {};
        if (!isCounted) count(this.#settle(key, result.requeueAfterMs, result.requeue));
      } catch (error) {
        message = error instanceof Error ? error.message : String(error);
        if (isCounted) return;
        if (!shutdown.aborted) this.#failed(key, error);
        this.#requeue(key, 'error');
        count('error');
      } finally {
        cancel();
        if (trace) this.parts.traces?.end(trace, message);
      }
    };
    return { counted, ended: trace ? trace.run(run) : run() };
  }

  #settle(key: string, requeueAfterMs: number | undefined, requeue: boolean | undefined): ReconcileOutcome {
    if (requeue && requeueAfterMs === undefined) {
      this.#requeue(key, 'requeue');
      return 'requeue';
    }
    this.#queue.forget(key);
    if (requeueAfterMs === undefined) return 'success';
    this.#enqueueAfter(key, requeueAfterMs);
    return 'requeue_after';
  }

  #enqueueAfter(key: string, delayMs: number): void {
    this.parts.traces?.queued(key, `after ${delayMs} ms`);
    this.#queue.addAfter(key, delayMs);
  }

  /** Adds a key with the growing delay of failures. */
  #requeue(key: string, reason: string): void {
    this.#queue.addRateLimited(key);
    this.parts.traces?.queued(key, `retry ${this.#queue.requeues(key)} after ${reason}`);
  }

  /** Logs a reconcile whose first turn, up to its first `await`, was long. */
  #turnEnded(key: string, milliseconds: number): void {
    if (milliseconds < longTurnMs) return;
    const fields = { controller: this.name, object: key, reason: `no await for ${Math.round(milliseconds)} ms` };
    this.parts.logger.warn(fields, `controller ${this.name}: reconcile blocked the server`);
  }

  #fault(what: string, error: unknown): void {
    const { logger, onFault } = this.parts;
    if (onFault) return onFault(what, error);
    const reason = error instanceof Error ? error.message : String(error);
    logger.error({ controller: this.name, function: what, reason }, `controller ${this.name}: ${what} failed`);
  }

  #failed(key: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.parts.logger.error({ controller: this.name, object: key, reason }, `controller ${this.name}: reconcile failed`);
  }
}

/** Combines the signals when the controller reads them: most reconciles end without. */
class Context implements ReconcileContext {
  readonly retries: number;
  readonly #parts: readonly [AbortSignal, AbortController];
  #signal: AbortSignal | undefined;

  constructor(parts: readonly [AbortSignal, AbortController], retries: number) {
    this.#parts = parts;
    this.retries = retries;
  }

  get signal(): AbortSignal {
    const [shutdown, timeout] = this.#parts;
    this.#signal ??= AbortSignal.any([shutdown, timeout.signal]);
    return this.#signal;
  }
}

function* ownersOf({ for: main }: ControllerOptions, object: KubeObject, old: KubeObject | undefined): Iterable<ReconcileRequest> {
  for (const state of old ? [object, old] : [object]) {
    const owner = controllerOf(state);
    const isOurs = main && owner?.kind === main.kind && owner.apiVersion.split('/').at(-2) === (main.group || undefined);
    if (isOurs) yield { namespace: (!main.isClusterScoped && state.metadata.namespace) || '', name: owner.name };
  }
}

/** True for what a mapper may return. */
function isRequest(value: unknown): value is ReconcileRequest {
  const { namespace, name } = (value ?? {}) as Partial<ReconcileRequest>;
  return (namespace === undefined || typeof namespace === 'string') && typeof name === 'string';
}

function keyOfRequest({ namespace, name }: ReconcileRequest): string {
  return keyOf({ metadata: { namespace, name } } as KubeObject);
}

function requestOf(key: string): ReconcileRequest {
  const slash = key.indexOf('/');
  return { namespace: slash < 0 ? '' : key.slice(0, slash), name: key.slice(slash + 1) };
}
