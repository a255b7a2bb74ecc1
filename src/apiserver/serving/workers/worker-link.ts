import type { Buffer } from 'node:buffer';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Peer } from '#apiserver/request/exchange';
import type { Serve } from '../secure-server.ts';
import { Backlog } from './backlog.ts';
import { type WorkerCommand, type Order, type Report, messageKinds, type WorkerMessage, type WorkerOptions } from './messages.ts';
import { type Batch, Outbox, partsOf } from './outbox.ts';
import { peerFrom } from './peers.ts';
import { type ExchangeWorker, WorkerExchange, WorkerUpgradeExchange } from './worker-exchange.ts';

/** Grace period of a closing worker. */
const closeMs = 1_000;

/** A thread that terminates connections, with its state. Requests of its clients are served as they arrive. */
export class WorkerLink implements ExchangeWorker {
  readonly outbox: Outbox<WorkerCommand>;
  readonly #worker: Worker;
  readonly #backlog: Backlog;
  readonly #serve: Serve;
  readonly #listening = Promise.withResolvers<AddressInfo>();
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #exchanges = new Map<number, WorkerExchange>();
  readonly #peers = new Map<number, Peer>();
  #finished: WorkerExchange[] = [];
  #error: Error | undefined;
  readonly #settled = Promise.withResolvers<void>();

  constructor(
    options: Omit<WorkerOptions, 'backlog'>,
    serve: Serve,
    readonly onHandshakeError: (() => void) | undefined,
  ) {
    const backlog = new SharedArrayBuffer(4);
    this.#backlog = new Backlog(backlog);
    this.#serve = serve;
    // Prevents an unhandled rejection; `ended` also reports the error.
    this.#listening.promise.catch(() => undefined);
    const isSource = import.meta.url.endsWith('.ts');
    this.#worker = new Worker(new URL(`./transport-worker.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      workerData: { ...options, backlog } satisfies WorkerOptions,
      name: 'serving',
      execArgv: isSource ? ['--conditions=kubenest-source'] : [],
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 },
    });
    this.outbox = new Outbox<WorkerCommand>((batch, transfer) => {
      this.#worker.postMessage(batch, transfer);
      for (const exchange of this.#finished.splice(0)) exchange.close();
    });
    this.#worker.on('message', (message: Batch<WorkerMessage> | Report) => this.#receive(message));
    this.#worker.on('error', (error: Error) => {
      this.#error = error;
    });
    this.#worker.on('exit', () => this.#end());
    // Allows the process to exit while the worker loads.
    this.#worker.unref();
  }

  /** Listens. Rejects with the worker's error. */
  listen(port: number, host: string): Promise<AddressInfo> {
    this.#worker.ref();
    this.order({ order: 'listen', port, host });
    return this.#listening.promise;
  }

  /** Resolves when the worker has exited, with its error unless it was closed. */
  get ended(): Promise<Error | undefined> {
    return this.#ended.promise;
  }

  finished(request: number, exchange: WorkerExchange): void {
    this.#exchanges.delete(request);
    this.#finished.push(exchange);
  }

  /** Sends a control message after the pending commands. */
  order(order: Order): void {
    this.outbox.flush();
    this.#worker.postMessage(order);
  }

  /** Resolves when no client of the worker is about to send its first request; see SecureServer. */
  settled(): Promise<void> {
    this.order({ order: 'settle' });
    return this.#settled.promise;
  }

  /** Closes the worker and its connections. */
  async close(): Promise<void> {
    this.order({ order: 'close' });
    const timer = setTimeout(() => void this.#worker.terminate(), closeMs);
    await this.ended;
    clearTimeout(timer);
  }

  #receive(message: Batch<WorkerMessage> | Report): void {
    if ('listening' in message) return this.#listening.resolve(message.listening);
    if ('settled' in message) return this.#settled.resolve();
    if ('failed' in message) return this.#fail(message.failed);
    const parts = partsOf(message, false);
    for (const entry of message.entries) this.#dispatch(entry, parts);
    this.#backlog.done(message.weight);
  }

  #fail({ message, code }: { readonly message: string; readonly code: string | undefined }): void {
    this.#error = Object.assign(new Error(message), { code });
    this.#listening.reject(this.#error);
  }

  #dispatch(entry: WorkerMessage, parts: readonly Buffer[]): void {
    switch (entry[0]) {
      case messageKinds.request:
        return this.#begin(entry, parts);
      case messageKinds.peer:
        return void this.#peers.set(entry[1], peerFrom(entry[2], entry[3]));
      case messageKinds.peerGone:
        return void this.#peers.delete(entry[1]);
      case messageKinds.handshakeError:
        return this.onHandshakeError?.();
      case messageKinds.data:
        return this.#exchanges.get(entry[1])?.data(parts[entry[2]] as Buffer);
      case messageKinds.end:
        return this.#exchanges.get(entry[1])?.end();
      case messageKinds.taken:
        return this.#exchanges.get(entry[1])?.taken(entry[2]);
      case messageKinds.closed: {
        const exchange = this.#exchanges.get(entry[1]);
        this.#exchanges.delete(entry[1]);
        return exchange?.close();
      }
    }
  }

  #begin([, request, head]: Extract<WorkerMessage, readonly [typeof messageKinds.request, ...unknown[]]>, parts: readonly Buffer[]): void {
    const peer = this.#peers.get(head.peer) as Peer;
    const body = head.body.map((part) => parts[part] as Buffer);
    const exchange = new (head.isUpgrade ? WorkerUpgradeExchange : WorkerExchange)(this, request, head, peer, body);
    this.#exchanges.set(request, exchange);
    this.#serve(exchange);
  }

  #end(): void {
    const error = this.#error ?? new Error('the worker exited');
    this.#listening.reject(error);
    for (const exchange of this.#exchanges.values()) exchange.close();
    this.#exchanges.clear();
    this.#peers.clear();
    this.#settled.resolve();
    this.#ended.resolve(this.#error);
  }
}
