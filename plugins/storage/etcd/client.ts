import type { Buffer } from 'node:buffer';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { ClosedError } from 'kubenest/sdk';
import { checkServerIdentity, type Dial, DialBridge, trustContext } from '#sdk/internal';
import { type Coder, type Decoder, Endpoint, type WatchStream } from './endpoint.ts';
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
  watchResponse,
} from './messages.ts';

export interface EtcdEndpoints {
  /** Addresses `http://host:port`, `https://host:port` or `unix://path`; the client fails over between them. */
  readonly servers: readonly string[];
  /** PEM. Default of `ca`: the system's authorities. */
  readonly ca?: Buffer | undefined;
  readonly certificate?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** Dialer of the servers; undefined: direct connections. */
  readonly dial?: Dial | undefined;
}

/**
 * gRPC options. Upstream: apiserver/pkg/storage/storagebackend/factory/etcd3.go, with 30 and 10 s. etcd closes connections
 * that ping more often than every 5 s.
 */
const channelOptions = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // Prevents grpc-js from reusing connections of other clients in this process.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
};
const deadlineMs = 30_000;

/**
 * Calls etcd's API on one of several servers: it stays with the first that answers and moves on to the next after a failure.
 * Reads, and writes that certainly did not happen, are retried on each server; a write that may have happened is not. All
 * attempts share one deadline; a silent server is abandoned long before.
 */
export class EtcdClient {
  readonly #endpoints: readonly Endpoint[];
  readonly #watchedAt = new WeakMap<WatchStream, Endpoint>();
  readonly #bridges: DialBridge[] = [];
  #present = 0;
  #isClosed = false;

  /** Throws for an invalid address. */
  constructor({ servers, ca, certificate, key, dial }: EtcdEndpoints) {
    if (servers.length === 0) throw new Error('storage: etcd: there is no server to connect to');
    this.#endpoints = servers.map((server) => new Endpoint(this.#connector(server, { ca, certificate, key, dial }), servers.length > 1));
  }

  range(request: Parameters<typeof rangeRequest.encode>[0], timeoutMs?: number): Promise<ReturnType<typeof rangeResponse.decode>> {
    return this.#call('/etcdserverpb.KV/Range', rangeRequest, rangeResponse, request, false, timeoutMs);
  }

  /** Rejects with UnknownOutcomeError if the transaction may have happened. */
  txn(request: Parameters<typeof txnRequest.encode>[0]): Promise<ReturnType<typeof txnResponse.decode>> {
    return this.#call('/etcdserverpb.KV/Txn', txnRequest, txnResponse, request, true);
  }

  async compact(revision: number): Promise<void> {
    await this.#call('/etcdserverpb.KV/Compact', compactionRequest, compactionResponse, { revision }, false);
  }

  /**
   * Returns the status of a server: `dbSize` is its database size in bytes, `errors` lists faults and the alarms of all
   * servers.
   */
  status(timeoutMs?: number): Promise<ReturnType<typeof statusResponse.decode>> {
    return this.#call('/etcdserverpb.Maintenance/Status', statusRequest, statusResponse, {}, false, timeoutMs);
  }

  async grantLease(ttl: number): Promise<number | bigint> {
    return (await this.#call('/etcdserverpb.Lease/LeaseGrant', leaseGrantRequest, leaseGrantResponse, { ttl }, false)).id;
  }

  /** Opens a stream for one watch. Pass its errors to `watchFailed`. */
  watch(): WatchStream {
    const endpoint = this.#endpoint;
    const stream = endpoint.watch(watchResponse);
    this.#watchedAt.set(stream, endpoint);
    return stream;
  }

  /** Returns the contract's error; the next call uses another server. */
  watchFailed(stream: WatchStream, error: ServiceError): Error {
    this.#leave(this.#watchedAt.get(stream), error);
    return translated(error, false);
  }

  close(): void {
    this.#isClosed = true;
    for (const endpoint of this.#endpoints) endpoint[Symbol.dispose]();
    for (const bridge of this.#bridges) bridge[Symbol.dispose]();
  }

  get #endpoint(): Endpoint {
    return this.#endpoints[this.#present] as Endpoint;
  }

  /** Returns the function that connects to a server. Throws for an invalid address. */
  #connector(server: string, { ca, certificate, key, dial }: Omit<EtcdEndpoints, 'servers'>): () => Client {
    const url = new URL(server);
    if (url.protocol === 'unix:') return () => new Client(`unix:${url.host}${url.pathname}`, credentials.createInsecure(), channelOptions);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new Error(`storage: etcd: ${JSON.stringify(server)} begins with neither http:// nor https://`);
    const isSecure = url.protocol === 'https:';
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
    const secrets = isSecure
      ? credentials.createFromSecureContext(trustContext({ ca }, { cert: certificate, key }), { checkServerIdentity })
      : credentials.createInsecure();
    if (!dial) return () => new Client(`dns:${url.hostname}:${port}`, secrets, channelOptions);
    const bridge = new DialBridge(dial, url.hostname.replace(/^\[|\]$/g, ''), port);
    this.#bridges.push(bridge);
    const options = {
      ...channelOptions,
      'grpc.default_authority': url.host,
      ...(isSecure && { 'grpc.ssl_target_name_override': url.hostname }),
    };
    return () => new Client(`unix:${bridge.path}`, secrets, options);
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
      const endpoint = this.#endpoint;
      try {
        return await endpoint.call(path, encoder, decoder, request, deadline);
      } catch (error) {
        const failure = error as ServiceError;
        if (typeof failure.code !== 'number') throw error;
        this.#leave(endpoint, failure);
        const again = isServerFailure(failure) && (!changes || isNotDone(failure));
        if (!again || attempt >= this.#endpoints.length || Date.now() >= deadline) throw translated(failure, changes);
      }
    }
  }

  /** Moves on to the next server unless another call has done so. */
  #leave(endpoint: Endpoint | undefined, error: ServiceError): void {
    if (endpoint === this.#endpoint && isServerFailure(error)) this.#present = (this.#present + 1) % this.#endpoints.length;
  }
}
