import type { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import { exactInt64, bytes, int64, Message, nested, string } from '#apimachinery/runtime/protobuf/message-table';
import type { Endpoint } from '#apiserver/network/endpoint';
import { addressOf } from './egress-selector.ts';

/** Packet types of the proxy protocol. Upstream: apiserver-network-proxy/konnectivity-client/proto/client/client.proto. */
export const packetType = { dialRequest: 0, dialResponse: 1, closeRequest: 2, closeResponse: 3, data: 4, dialClose: 5, drain: 6 } as const;
export const packet = new Message({
  type: int64(1),
  dialRequest: nested(2, new Message({ protocol: string(1), address: string(2), random: exactInt64(3) })),
  dialResponse: nested(3, new Message({ error: string(1), connectId: exactInt64(2), random: exactInt64(3) })),
  data: nested(4, new Message({ connectId: exactInt64(1), error: string(2), data: bytes(3) })),
  closeRequest: nested(5, new Message({ connectId: exactInt64(1) })),
  closeResponse: nested(6, new Message({ error: string(1), connectId: exactInt64(2) })),
  closeDial: nested(7, new Message({ random: exactInt64(1) })),
});
type Sent = Parameters<typeof packet.encode>[0];
type Packet = ReturnType<typeof packet.decode>;

const proxyPath = '/ProxyService/Proxy';
const dialTimeoutMs = 30_000;
const closeTimeoutMs = 10_000;

/** A tunnel for one connection through the proxy service on a unix socket. */
export interface Tunnel {
  readonly client: Client;
  readonly stream: ClientDuplexStream<Sent, Packet>;
}

/** Connects to the proxy service. Rejects if it is unavailable. */
export async function connectToService(udsName: string, signal: AbortSignal | undefined): Promise<Tunnel> {
  const client = new Client(`unix:${udsName}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
    'grpc.enable_retries': 0,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      client.waitForReady(Date.now() + dialTimeoutMs, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    client.close();
    throw error;
  }
  const stream = client.makeBidiStreamRequest<Sent, Packet>(
    proxyPath,
    (values) => packet.encode(values),
    (message) => packet.decode(message),
    new Metadata(),
  );
  return { client, stream };
}

/** Sends a dial request to the proxy service and resolves to the connection. Upstream: konnectivity-client/pkg/client/client.go. */
export function dialThrough(tunnel: Tunnel, endpoint: Endpoint, signal: AbortSignal | undefined): Promise<Duplex> {
  const { stream, client } = tunnel;
  const random = randomBytes(8).readBigUInt64BE() >> 2n;
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      stream.off('data', receive).off('error', fail).off('end', ended);
      if (!error) return;
      // The dial has already failed; errors of the stream's end add nothing.
      stream.on('error', () => {});
      client.close();
      reject(error);
    };
    const giveUp = (reason: string): void => {
      stream.write({ type: packetType.dialClose, closeDial: { random } });
      settle(new Error(reason));
    };
    const abort = (): void => giveUp('dial timeout, context');
    const timer = setTimeout(() => giveUp('dial timeout, backstop'), dialTimeoutMs);
    const fail = (error: Error): void => settle(error);
    const ended = (): void => settle(new Error('tunnel closed'));
    const receive = ({ type, dialResponse, closeDial }: Packet): void => {
      if (type === packetType.dialClose && BigInt(closeDial?.random ?? 0) === random) return settle(new Error('dial closed'));
      if (type !== packetType.dialResponse || BigInt(dialResponse?.random ?? 0) !== random) return;
      if (dialResponse?.error) return settle(new Error(dialResponse.error));
      settle();
      resolve(new TunnelConnection(tunnel, dialResponse?.connectId ?? 0));
    };
    stream.on('data', receive).on('error', fail).on('end', ended);
    signal?.addEventListener('abort', abort, { once: true });
    stream.write({ type: packetType.dialRequest, dialRequest: { protocol: 'tcp', address: addressOf(endpoint), random } });
  });
}

/**
 * A connection through a tunnel; closing it closes the tunnel. Node's agents treat it as a socket, so it accepts socket options
 * (keep-alive, no delay, ref and unref) without effect.
 */
class TunnelConnection extends Duplex {
  readonly #tunnel: Tunnel;
  readonly #connectId: number | bigint;
  #isClosed = false;

  constructor(tunnel: Tunnel, connectId: number | bigint) {
    super({ allowHalfOpen: false });
    this.#tunnel = tunnel;
    this.#connectId = connectId;
    tunnel.stream
      .on('data', (received: Packet) => this.#receive(received))
      .on('error', (error: Error) => this.destroy(this.#isClosed ? undefined : error))
      .on('end', () => this.#ended());
  }

  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    this.#tunnel.stream.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#tunnel.stream.write({ type: packetType.data, data: { connectId: this.#connectId, data: chunk } }, done);
  }

  override _final(done: () => void): void {
    this.#requestClose();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#requestClose();
    // Flushes written data before the tunnel closes.
    this.#tunnel.stream.end();
    setTimeout(() => this.#tunnel.client.close(), closeTimeoutMs).unref();
    done(error);
  }

  #receive({ type, data, closeResponse }: Packet): void {
    if (type === packetType.data && String(data?.connectId) === String(this.#connectId)) {
      if (data?.data && data.data.length > 0 && !this.push(data.data)) this.#tunnel.stream.pause();
    } else if (type === packetType.closeResponse && String(closeResponse?.connectId) === String(this.#connectId)) this.#ended();
  }

  #ended(): void {
    this.#isClosed = true;
    this.push(null);
    this.#tunnel.client.close();
  }

  #requestClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tunnel.stream.write({ type: packetType.closeRequest, closeRequest: { connectId: this.#connectId } });
  }
}
