import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Container } from 'inversify';
import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource } from '#apimachinery/meta/types';
import { encodeRawJson, parseEncodedText } from '#apimachinery/runtime/json/json';
import type { Attributes } from '#apiserver/admission/attributes';
import { Authorizer } from '#apiserver/authorization/authorizer';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { ShutdownSignal } from '#apiserver/base/shutdown-signal';
import { Client } from '#apiserver/registry/client';
import { Informers } from '#apiserver/registry/informers';
import type { PluginGuard } from '../guard-admission.ts';
import { PluginLoadError } from '../plugin-request.ts';
import { PluginFailures, type PluginName } from '../plugin-failures.ts';
import { TimeoutError, within } from '../within.ts';
import { answerService } from './answer-service.ts';
import { FollowedResources } from './followed-resources.ts';
import { restoredError } from './isolated-error.ts';
import { ServiceQueue } from './service-queue.ts';
import type {
  CallOutcome,
  FollowedEvent,
  FromWorker,
  IsolatedPlugin,
  MetricUpdate,
  PhaseName,
  ServiceCall,
  ToWorker,
  WorkerTask,
} from './messages.ts';

/** Pauses before a restart double from the first to the last. A thread that ran this long starts with the first again. */
const firstPauseMs = 100;
const lastPauseMs = 30_000;
const steadyMs = 60_000;
/** Maximum time for the answer to a ping, after which the thread counts as blocked. */
const pingMs = 250;

const mebibyte = 1_048_576;
/** Intervals of the checks of a thread's buffers: while calls are in progress, and otherwise. */
const busyLookMs = 100;
const idleLookMs = 1_000;
/** Maximum length of an object's JSON that a thread may send; the store refuses much smaller objects. */
const maxObjectLength = 16 * mebibyte;

/** Services of the server for a thread; known only after its start. */
interface WorkerServices {
  readonly client: Client;
  readonly informers: () => Informers;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly failures: PluginFailures;
}

type Running = { readonly worker: Worker; readonly since: number };

/**
 * The worker thread of a plugin package with `isolation: worker`.
 *
 *     loading -> running -> (exit, out of memory, blocked) -> pause -> loading -> …
 *
 * Calls wait while the thread loads, and fail at once during a pause and if the thread ends.
 */
export class PluginWorker {
  readonly #task: WorkerTask;
  readonly #guard: PluginGuard;
  readonly #memoryMiB: number;
  readonly #name: PluginName;
  readonly #calls = new Map<number, PromiseWithResolvers<CallOutcome>>();
  readonly #services = Promise.withResolvers<WorkerServices>();
  #lastCall = 0;
  #running: Promise<Running> | undefined;
  #pauseMs = firstPauseMs;
  #ended = false;
  #end: Promise<void> | undefined;
  #pong: (() => void) | undefined;
  /** Threads that were ended because of their buffers, or of objects that they did not receive. */
  readonly #tooLarge = new WeakSet<Worker>();
  /** Resources that a thread follows; its plugins request them in their constructors. */
  readonly #resources = new Map<string, GroupResource>();
  readonly #followed = new WeakMap<Worker, FollowedResources>();
  readonly #queues = new WeakMap<Worker, ServiceQueue>();

  /** `packageName` is the name in logs and metrics. */
  constructor(packageName: string, { request, ...task }: WorkerTask, guard: PluginGuard, memoryMiB: number) {
    const { guard: _, isolation: __, ...rest } = request;
    this.#task = { ...task, request: { ...rest, guard } };
    this.#guard = guard;
    this.#memoryMiB = memoryMiB;
    this.#name = { sort: 'plugin worker', name: '', package: packageName };
  }

  /** Starts the thread, and returns its plugins. Rejects with a PluginLoadError. */
  async start(): Promise<readonly IsolatedPlugin[]> {
    const { worker, ready } = this.#load();
    const plugins = await ready;
    this.#running = Promise.resolve({ worker, since: performance.now() });
    return plugins;
  }

  /** Connects the thread with the services of the server, until the server has ended. */
  attach(container: Container): void {
    const logger = container.get<Logger>(Logger);
    const metrics = container.get<Metrics>(Metrics);
    const failures = new PluginFailures(logger, metrics);
    const informers = (): Informers => container.get<Informers>(Informers);
    // A resource that the server does not store is an error at start, as in the thread of the server.
    for (const resource of this.#resources.values()) informers().for(resource);
    this.#services.resolve({
      client: container.get<Client>(Client),
      informers,
      authorizer: container.get<Authorizer>(Authorizer),
      logger,
      metrics,
      failures,
    });
    const signal = container.get<ShutdownSignal>(ShutdownSignal);
    if (signal.aborted) void this.end();
    else signal.addEventListener('abort', () => void this.end(), { once: true });
  }

  /** Calls a phase of a plugin in the thread. Rejects if the thread ends. */
  async call(plugin: string, phase: PhaseName, request: Attributes): Promise<CallOutcome> {
    if (!this.#running) throw new Error('its worker thread is restarting');
    const { worker } = await this.#running;
    const id = (this.#lastCall += 1);
    const outcome = Promise.withResolvers<CallOutcome>();
    this.#calls.set(id, outcome);
    this.#post(worker, { type: 'call', id, plugin, phase, request: isolated(request) });
    try {
      return await within(outcome.promise, this.#guard.timeoutMs);
    } catch (error) {
      if (error instanceof TimeoutError) void this.#endIfBlocked(worker);
      throw error;
    } finally {
      this.#calls.delete(id);
    }
  }

  /**
   * Returns the object of an outcome. Throws, and restarts the thread, if it is not JSON: the plugin has broken the thread's globals, and
   * no later call would succeed.
   */
  objectOf({ object }: CallOutcome): unknown {
    if (object === undefined) return undefined;
    if (object.length > maxObjectLength)
      throw new Error(`its worker thread sent an object of ${object.length} characters, the limit is ${maxObjectLength}`);
    try {
      return parseEncodedText(object, true);
    } catch (cause) {
      void this.#running?.then(({ worker }) => worker.terminate());
      throw new Error('its worker thread sent an object that is not JSON', { cause });
    }
  }

  /** Ends the thread permanently, after its plugins were disposed of or `timeout` has passed. */
  end(): Promise<void> {
    this.#end ??= this.#shutDown();
    return this.#end;
  }

  async #shutDown(): Promise<void> {
    this.#ended = true;
    const running = await this.#running?.catch(() => undefined);
    if (!running) return;
    const exited = new Promise<void>((resolve) => void running.worker.once('exit', () => resolve()));
    this.#post(running.worker, { type: 'shutdown' });
    void this.#endIfBlocked(running.worker);
    await within(exited, this.#guard.timeoutMs).catch(() => undefined);
    await running.worker.terminate();
  }

  #post(worker: Worker, message: ToWorker): void {
    worker.postMessage(message);
  }

  #load(): { readonly worker: Worker; readonly ready: Promise<readonly IsolatedPlugin[]> } {
    const isSource = import.meta.url.endsWith('.ts');
    const worker = new Worker(new URL(`./plugin-worker-thread.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      name: `plugin ${this.#task.request.package}`,
      workerData: this.#task,
      execArgv: isSource ? ['--conditions=kubenest-source', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'] : [],
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMiB },
    });
    const { promise, resolve, reject } = Promise.withResolvers<readonly IsolatedPlugin[]>();
    const refuse = (problems: readonly string[]): void => reject(new PluginLoadError(problems));
    const place = `plugin package ${this.#task.request.package}`;
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'ready') resolve(message.plugins);
      else if (message.type === 'refused') refuse(message.problems);
      else this.#received(worker, message);
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      refuse([`${place}: its worker thread ended while it was loaded${cause === undefined ? '' : `: ${(cause as Error).message}`}`]);
      this.#exited(worker, cause);
    });
    const { startTimeoutMs } = this.#guard;
    const ready = within(promise, startTimeoutMs).catch(async (error: unknown) => {
      await worker.terminate();
      throw error instanceof TimeoutError ? new PluginLoadError([`${place}: not loaded within ${startTimeoutMs} ms`]) : error;
    });
    // After the listeners, which keep the process alive.
    worker.unref();
    void this.#limitBuffers(worker);
    return { worker, ready };
  }

  #received(worker: Worker, message: Exclude<FromWorker, { readonly type: 'ready' | 'refused' }>): void {
    switch (message.type) {
      case 'done':
        this.#calls.get(message.id)?.resolve(message);
        return;
      case 'pong':
        this.#pong?.();
        return;
      case 'follow':
        this.#resources.set(groupResourceString(message.resource), message.resource);
        void this.#services.promise.then((services) => this.#follow(worker, message.resource, services));
        return;
      case 'read':
        this.#followed.get(worker)?.read(message.characters);
        return;
      case 'received':
        this.#queues.get(worker)?.received(message.id);
        return;
      default:
        void this.#services.promise.then((services) => this.#serve(worker, message, services));
    }
  }

  /** Ends a thread for which more waits than it takes. */
  #overflowed(worker: Worker): void {
    this.#tooLarge.add(worker);
    void worker.terminate();
  }

  /** Reads wait for their turn. Writes do not: their admission may call the thread again, whose reads would wait for the writes. */
  #answer(worker: Worker, { id, method }: ServiceCall & { readonly id: number }, answer: () => Promise<void>): Promise<void> {
    return method === 'get' || method === 'list' ? this.#queueOf(worker).run(id, answer) : answer();
  }

  #queueOf(worker: Worker): ServiceQueue {
    let queue = this.#queues.get(worker);
    if (!queue) this.#queues.set(worker, (queue = new ServiceQueue(() => this.#overflowed(worker))));
    return queue;
  }

  /** Sends the objects of a resource to a thread until it ends. */
  #follow(worker: Worker, resource: GroupResource, { informers, failures }: WorkerServices): void {
    let followed = this.#followed.get(worker);
    if (!followed) {
      const send = (of: GroupResource, event: FollowedEvent): void => this.#post(worker, { type: 'followed', resource: of, event });
      followed = new FollowedResources(send, this.#memoryMiB * mebibyte, () => this.#overflowed(worker));
      this.#followed.set(worker, followed);
      // It may have ended before the server had its services.
      if (worker.threadId < 0) followed[Symbol.dispose]();
    }
    try {
      followed.follow(informers(), resource);
    } catch (error) {
      failures.record(this.#name, 'error', error, { resource: groupResourceString(resource) });
    }
  }

  async #serve(
    worker: Worker,
    message: Extract<FromWorker, { readonly type: 'service' | 'log' | 'metrics' | 'stray' }>,
    { client, authorizer, logger, metrics, failures }: WorkerServices,
  ): Promise<void> {
    switch (message.type) {
      case 'service':
        return this.#answer(worker, message, async () =>
          this.#post(worker, { type: 'answer', id: message.id, ...(await answerService(message, { client, authorizer })) }),
        );
      case 'log':
        logger[message.level]({ package: this.#name.package, ...message.fields }, message.message);
        return;
      case 'stray':
        failures.record(this.#name, message.kind, restoredError(message.error));
        return;
      case 'metrics':
        for (const update of message.updates) this.#count(update, metrics, failures);
    }
  }

  /** A metric of another type or with other labels is a failure of the package. */
  #count({ kind, options, method, labels, values }: MetricUpdate, metrics: Metrics, failures: PluginFailures): void {
    try {
      const metric = metrics[kind](options as never) as unknown as Record<typeof method, (labels: object, value: number) => void>;
      for (const value of values) metric[method](labels, value);
    } catch (error) {
      failures.record(this.#name, 'error', error, { metric: options.name });
    }
  }

  /** Ends a thread whose buffers exceed the memory limit: V8 applies it to other objects only. Resolves when the thread has ended. */
  async #limitBuffers(worker: Worker): Promise<void> {
    for (;;) {
      await sleep(this.#calls.size > 0 ? busyLookMs : idleLookMs, undefined, { ref: false });
      const usage = await worker.getHeapStatistics().catch(() => undefined);
      if (!usage) return;
      if (usage.external_memory <= this.#memoryMiB * mebibyte) continue;
      this.#tooLarge.add(worker);
      await worker.terminate();
      return;
    }
  }

  /** Ends a thread that does not answer, for example because of an endless loop. A thread that only waits continues. */
  async #endIfBlocked(worker: Worker): Promise<void> {
    if (this.#pong) return;
    const answered = Promise.withResolvers<void>();
    this.#pong = answered.resolve;
    this.#post(worker, { type: 'ping' });
    try {
      await within(answered.promise, pingMs);
    } catch {
      await worker.terminate();
    } finally {
      this.#pong = undefined;
    }
  }

  #exited(worker: Worker, cause: unknown): void {
    this.#followed.get(worker)?.[Symbol.dispose]();
    void this.#running?.then(
      (running) => {
        if (running.worker !== worker || this.#ended) return;
        const isMemory = this.#tooLarge.has(worker) || (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
        const error = new Error(isMemory ? 'its worker thread exceeded its memory limit' : 'its worker thread ended', { cause });
        void this.#services.promise.then(({ failures }) => failures.record(this.#name, isMemory ? 'memory' : 'exit', error));
        if (performance.now() - running.since > steadyMs) this.#pauseMs = firstPauseMs;
        this.#restart();
        for (const call of this.#calls.values()) call.reject(error);
      },
      () => undefined,
    );
  }

  #restart(): void {
    this.#running = undefined;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, lastPauseMs);
    setTimeout(() => {
      if (this.#ended) return;
      const { worker, ready } = this.#load();
      this.#running = ready.then(() => ({ worker, since: performance.now() }));
      this.#running.catch((error: unknown) => {
        void this.#services.promise.then(({ failures }) => failures.record(this.#name, 'exit', error));
        this.#restart();
      });
    }, pauseMs).unref();
  }
}

function isolated(request: Attributes): Extract<ToWorker, { readonly type: 'call' }>['request'] {
  const { operation, kind, resource, subresource, namespace, name, dryRun, user, traceHeaders, reinvocation, trace } = request;
  return {
    operation,
    kind,
    resource,
    subresource,
    namespace,
    name,
    dryRun,
    user,
    traceHeaders,
    isReinvoke: reinvocation.isReinvoke,
    isTraced: trace !== undefined,
    object: textOf(request.object),
    oldObject: textOf(request.oldObject),
    options: encodeRawJson(request.options),
  };
}

function textOf(object: object | undefined): string | undefined {
  return object && encodeRawJson(object);
}
