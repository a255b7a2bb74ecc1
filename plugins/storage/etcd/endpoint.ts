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
/** Number of ticks without a response after which a probe fails. Ticks, not time, because a blocked event loop misses ticks. */
const silentTicks = 3;

/**
 * One server. If alternatives exist, the server is monitored while calls are pending: a probe (its local status) is sent
 * every second, and if one is not answered for three ticks, all pending calls fail and the next call reconnects. A slow
 * response is thus awaited, while a server that vanished silently (power loss, dropped packets) is not.
 *
 *     s 0 call, probe; 0.1 server vanishes; 1 probe; 2, 3, 4 silent: the call fails
 */
export class Endpoint implements Disposable {
  #client: Client;
  /** Functions that fail the pending calls. */
  readonly #open = new Set<(error: ServiceError) => void>();
  #probe: ClientUnaryCall | undefined;
  #silent = 0;
  readonly #timer: NodeJS.Timeout | undefined;

  /** `connect` is called for each new connection. */
  constructor(
    private readonly connect: () => Client,
    isWatched: boolean,
  ) {
    this.#client = connect();
    if (isWatched) this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Rejects with a ServiceError. `deadline` is in milliseconds since the epoch. */
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
    // The reader of the stream handles its errors.
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
    // grpc-js captures a stack for each call in case it fails, which takes a fifth of the call's time and shows only this
    // file.
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
      // Any answer proves that the server is alive; an immediate failure also fails the calls.
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
