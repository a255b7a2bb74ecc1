import type { Buffer } from 'node:buffer';
import { type Client, type ClientDuplexStream, type ClientUnaryCall, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { statusRequest, statusResponse, watchRequest, type WatchResponse } from './messages.ts';

export interface Coder<T> {
  encode(values: T): Buffer;
}
export interface Decoder<T> {
  decode(message: Buffer): T;
}

export type WatchStream = ClientDuplexStream<Parameters<typeof watchRequest.encode>[0], WatchResponse>;

const leaders = new Metadata();
leaders.set('hasleader', 'true');

const tickMs = 1_000;
/** A probe that is not answered for so many ticks. Ticks, not time: while this process itself does nothing, there is but one. */
const silentTicks = 3;

/**
 * One server. Where others are there to ask instead, it is watched: while anything is under way at it, a probe (its status, which it knows
 * without the others) goes every second, and if one is not answered for three, all that is under way fails at once, and the next call makes a new
 * connection. So an answer that takes long is waited for, and a server that is gone without a word (a host that lost its power, a path
 * that drops all packets) is not.
 *
 *     s 0 call, probe; 0.1 no word any more; 1 probe; 2, 3, 4 silent: the call fails
 */
export class Endpoint implements Disposable {
  #client: Client;
  /** What is under way: each is failed by its function. */
  readonly #open = new Set<(error: ServiceError) => void>();
  #probe: ClientUnaryCall | undefined;
  #silent = 0;
  readonly #timer: NodeJS.Timeout | undefined;

  /** `connect` is called again for each new connection. */
  constructor(
    private readonly connect: () => Client,
    isWatched: boolean,
  ) {
    this.#client = connect();
    if (isWatched) this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Rejects with a ServiceError. `deadline`: milliseconds since the epoch. */
  call<Q, R>(path: string, encoder: Coder<Q>, decoder: Decoder<R>, request: Q, deadline: number): Promise<R> {
    return new Promise((resolve, reject) => {
      const call = this.#send(path, encoder, decoder, request, deadline, (error, answer) => {
        this.#open.delete(fail);
        if (error) reject(error);
        else resolve(answer as R);
      });
      const fail = (error: ServiceError): void => {
        reject(error);
        call.cancel();
      };
      this.#open.add(fail);
    });
  }

  watch(decoder: Decoder<WatchResponse>): WatchStream {
    const encode = watchRequest.encode.bind(watchRequest);
    const stream = this.#client.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', encode, decoder.decode.bind(decoder), leaders);
    const fail = (error: ServiceError): void => {
      stream.destroy(error);
      stream.cancel();
    };
    this.#open.add(fail);
    // Who reads it learns of errors by reading.
    stream.on('error', () => this.#open.delete(fail)).on('end', () => this.#open.delete(fail));
    return stream;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#client.close();
  }

  #send<Q, R>(
    path: string,
    encoder: Coder<Q>,
    decoder: Decoder<R>,
    request: Q,
    deadline: number,
    done: (error: ServiceError | null, answer?: R) => void,
  ): ClientUnaryCall {
    const encode = (values: Q): Buffer => encoder.encode(values);
    const decode = (message: Buffer): R => decoder.decode(message);
    // grpc-js takes the stack of each call for the error that there may be: a fifth of what a call costs, and this file is all that it shows.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return this.#client.makeUnaryRequest(path, encode, decode, request, leaders, { deadline }, done);
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  #tick(): void {
    if (this.#probe) {
      if (++this.#silent >= silentTicks) this.#fail();
    } else if (this.#open.size > 0) {
      this.#silent = 0;
      // Whatever it answers, it is there; what fails at once, fails the calls as well.
      this.#probe = this.#send('/etcdserverpb.Maintenance/Status', statusRequest, statusResponse, {}, Infinity, () => {
        this.#probe = undefined;
      });
    }
  }

  #fail(): void {
    const details = `the server has been silent for ${(silentTicks * tickMs) / 1_000} s`;
    const error = Object.assign(new Error(details), { code: status.UNAVAILABLE, details, metadata: new Metadata() });
    const silent = this.#client;
    this.#client = this.connect();
    const open = [...this.#open];
    this.#open.clear();
    for (const fail of open) fail(error);
    this.#probe?.cancel();
    this.#probe = undefined;
    silent.close();
  }
}
