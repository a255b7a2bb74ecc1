import { Buffer } from 'node:buffer';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Endpoint } from '#apiserver/network/endpoint';
import { type Trust, trustOptions } from '../trust.ts';
import { addressOf } from './egress-selector.ts';

/** Maximum size of the proxy's response head: Go's `http.DefaultMaxHeaderBytes`. */
const maxHeaderBytes = 1024 * 1024;

/** Address of an HTTP proxy: a unix socket or a TCP port, with TLS if TLS options are set. */
export type HttpProxy =
  | { readonly udsName: string }
  | {
      readonly endpoint: Endpoint;
      readonly tls: (Pick<tls.ConnectionOptions, 'cert' | 'key' | 'servername'> & Pick<Trust, 'ca'>) | undefined;
    };

/** Connects to the proxy. */
export function connectToProxy(proxy: HttpProxy, signal: AbortSignal | undefined): Promise<Duplex> {
  const socket =
    'udsName' in proxy
      ? connectTcp(proxy.udsName)
      : proxy.tls
        ? tls.connect({ ...proxy.endpoint, servername: proxy.endpoint.host, ...proxy.tls, ...trustOptions({ ca: proxy.tls.ca }) })
        : connectTcp(proxy.endpoint);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const abort = (): void => fail(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once('udsName' in proxy || !proxy.tls ? 'connect' : 'secureConnect', () => {
      signal?.removeEventListener('abort', abort);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/**
 * Sends CONNECT for `endpoint` and resolves to the same connection once the proxy has accepted. Upstream: egress_selector.go
 * (tunnelHTTPConnect).
 */
export function tunnelThrough(socket: Duplex, proxyAddress: string, endpoint: Endpoint, signal: AbortSignal | undefined): Promise<Duplex> {
  const address = addressOf(endpoint);
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const settle = (error?: Error): void => {
      for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
      signal?.removeEventListener('abort', listeners.abort);
      if (!error) return resolve(socket);
      socket.destroy();
      reject(error);
    };
    const fail = (reason: string): void =>
      settle(new Error(`reading HTTP response from CONNECT to ${address} via proxy ${proxyAddress} failed: ${reason}`));
    const listeners = {
      // Reads only the head from the socket, so that the caller starts to read at the first byte after it.
      readable(): void {
        const chunk = socket.read() as Buffer | null;
        if (!chunk) return;
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) {
          if (head.length > maxHeaderBytes) fail('unexpected EOF');
          return;
        }
        const [line = ''] = head.toString('latin1', 0, end).split('\r\n');
        const [, code = '', reason = ''] = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/.exec(line) ?? [];
        if (code === '') fail(`malformed HTTP response ${JSON.stringify(line.slice(0, 100))}`);
        else if (code !== '200')
          settle(new Error(`proxy error from ${proxyAddress} while dialing ${address}, code ${code}: ${code} ${reason}`));
        else if (head.length > end + 4)
          settle(
            new Error(`unexpected ${head.length - end - 4} bytes of buffered data from CONNECT proxy ${JSON.stringify(proxyAddress)}`),
          );
        else settle();
      },
      end: (): void => fail('unexpected EOF'),
      error: (error: Error): void => fail(error.message),
      abort: (): void => settle(signal?.reason as Error),
    };
    for (const [event, listener] of Object.entries(listeners)) if (event !== 'abort') socket.on(event, listener);
    signal?.addEventListener('abort', listeners.abort, { once: true });
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  });
}
