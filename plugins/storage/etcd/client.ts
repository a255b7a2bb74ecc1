import type { Buffer } from 'node:buffer';
import { type CallOptions, type ClientDuplexStream, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { ClosedError, type Dial, DialBridge } from 'kubenest/sdk';
import { isNotDone, isServerFailure, translated } from './errors.ts';
import {
  compactionRequest,
  compactionResponse,
  leaseGrantRequest,
  leaseGrantResponse,
  rangeRequest,
  rangeResponse,
  statusRequest,
  statusResponse,
  txnRequest,
  txnResponse,
  watchRequest,
  watchResponse,
  type WatchResponse,
} from './messages.ts';

export interface EtcdEndpoints {
  /** `http://host:port`, `https://host:port` or `unix://path`; the others are used when one fails. */
  readonly servers: readonly string[];
  /** PEM. Without `ca`, the system's authorities. */
  readonly ca?: Buffer | undefined;
  readonly certificate?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** How the servers are reached; undefined: straight. */
  readonly dial?: Dial | undefined;
}

interface Coder<T> {
  encode(values: T): Buffer;
}
interface Decoder<T> {
  decode(message: Buffer): T;
}

export type WatchStream = ClientDuplexStream<Parameters<typeof watchRequest.encode>[0], WatchResponse>;

/** Upstream: apiserver/pkg/storage/storagebackend/factory/etcd3.go. */
const channelOptions = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
};
const deadlineMs = 30_000;
const leaders = new Metadata();
leaders.set('hasleader', 'true');

/**
 * Calls of etcd's API at one of several servers: the first that answers is kept, a failure moves on to the next. What reads, or
 * has certainly not happened, is tried at each; a write that may have happened is not repeated.
 */
export class EtcdClient {
  readonly #clients: readonly Client[];
  readonly #bridges: DialBridge[] = [];
  #present = 0;
  #isClosed = false;

  /** Throws for an address that is none. */
  constructor({ servers, ca, certificate, key, dial }: EtcdEndpoints) {
    if (servers.length === 0) throw new Error('storage: etcd: there is no server to connect to');
    this.#clients = servers.map((server) => {
      const url = new URL(server);
      if (url.protocol === 'unix:') return new Client(`unix:${url.host}${url.pathname}`, credentials.createInsecure(), channelOptions);
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw new Error(`storage: etcd: ${JSON.stringify(server)} begins with neither http:// nor https://`);
      const isSecure = url.protocol === 'https:';
      const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
      const secrets = isSecure ? credentials.createSsl(ca ?? null, key ?? null, certificate ?? null) : credentials.createInsecure();
      if (!dial) return new Client(`dns:${url.hostname}:${port}`, secrets, channelOptions);
      const bridge = new DialBridge(dial, url.hostname.replace(/^\[|\]$/g, ''), port);
      this.#bridges.push(bridge);
      return new Client(`unix:${bridge.path}`, secrets, {
        ...channelOptions,
        'grpc.default_authority': url.host,
        ...(isSecure && { 'grpc.ssl_target_name_override': url.hostname }),
      });
    });
  }

  range(request: Parameters<typeof rangeRequest.encode>[0], timeoutMs?: number): Promise<ReturnType<typeof rangeResponse.decode>> {
    return this.#call('/etcdserverpb.KV/Range', rangeRequest, rangeResponse, request, false, timeoutMs);
  }

  /** Rejects with UnknownOutcomeError where it may have happened. */
  txn(request: Parameters<typeof txnRequest.encode>[0]): Promise<ReturnType<typeof txnResponse.decode>> {
    return this.#call('/etcdserverpb.KV/Txn', txnRequest, txnResponse, request, true);
  }

  async compact(revision: number): Promise<void> {
    await this.#call('/etcdserverpb.KV/Compact', compactionRequest, compactionResponse, { revision }, false);
  }

  /** The bytes of the server's database. */
  async size(): Promise<number> {
    return (await this.#call('/etcdserverpb.Maintenance/Status', statusRequest, statusResponse, {}, false)).dbSize;
  }

  async grantLease(ttl: number): Promise<number | bigint> {
    return (await this.#call('/etcdserverpb.Lease/LeaseGrant', leaseGrantRequest, leaseGrantResponse, { ttl }, false)).id;
  }

  /** A stream for one watch; its errors are to be given to `watchFailed`. */
  watch(): WatchStream {
    return this.#client.makeBidiStreamRequest(
      '/etcdserverpb.Watch/Watch',
      watchRequest.encode.bind(watchRequest),
      decoderOf(watchResponse),
      leaders,
    );
  }

  /** The error of the contract; the next call goes to another server. */
  watchFailed(error: ServiceError): Error {
    this.#leave(this.#client, error);
    return translated(error, false);
  }

  close(): void {
    this.#isClosed = true;
    for (const client of this.#clients) client.close();
    for (const bridge of this.#bridges) bridge[Symbol.dispose]();
  }

  get #client(): Client {
    return this.#clients[this.#present] as Client;
  }

  async #call<Q, R>(
    path: string,
    encoder: Coder<Q>,
    decoder: Decoder<R>,
    request: Q,
    changes: boolean,
    timeoutMs = deadlineMs,
  ): Promise<R> {
    const deadline = Date.now() + timeoutMs;
    for (let attempt = 1; ; attempt++) {
      if (this.#isClosed) throw new ClosedError();
      const client = this.#client;
      try {
        return await unary(client, path, encoder, decoder, request, { deadline });
      } catch (error) {
        const failure = error as ServiceError;
        if (typeof failure.code !== 'number') throw error;
        this.#leave(client, failure);
        const again = isServerFailure(failure) && (!changes || isNotDone(failure));
        if (!again || attempt >= this.#clients.length || Date.now() >= deadline) throw translated(failure, changes);
      }
    }
  }

  /** Others may have moved on already. */
  #leave(client: Client, error: ServiceError): void {
    if (client === this.#client && isServerFailure(error)) this.#present = (this.#present + 1) % this.#clients.length;
  }
}

function decoderOf<R>(decoder: Decoder<R>): (message: Buffer) => R {
  return (message) => decoder.decode(message);
}

function unary<Q, R>(client: Client, path: string, encoder: Coder<Q>, decoder: Decoder<R>, request: Q, options: CallOptions): Promise<R> {
  return new Promise((resolve, reject) => {
    const encode = (values: Q): Buffer => encoder.encode(values);
    client.makeUnaryRequest(path, encode, decoderOf(decoder), request, leaders, options, (error, answer) => {
      if (error) reject(error);
      else resolve(answer as R);
    });
  });
}
