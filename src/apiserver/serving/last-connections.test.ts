import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import http2 from 'node:http2';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '#apiserver/request/exchange';
import { issueServingCertificate } from '#testing/serving-certificate';
import { type ConnectionSource, SecureServer } from './secure-server.ts';

let options: ConstructorParameters<typeof SecureServer>[0];
beforeAll(async () => {
  const { certificateAuthority: _, ...certificate } = await issueServingCertificate();
  options = {
    ...{ certificate, sniCertificates: [], clientCa: undefined, minVersion: 'TLSv1.2', cipherSuites: [] },
    ...{ disableHttp2: false, maxConcurrentStreams: 10, stalledMs: 60_000 },
  };
});

const serve = (exchange: Exchange): void => exchange.send(200, [], Buffer.from('done'));
const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A server, and connections to it. */
class Served implements AsyncDisposable {
  readonly sockets: Socket[] = [];
  constructor(
    readonly server: SecureServer,
    readonly address: AddressInfo,
  ) {}

  bare(): Socket {
    const socket = net.connect(this.address.port, '127.0.0.1').on('error', () => undefined);
    this.sockets.push(socket);
    return socket;
  }

  session(): http2.ClientHttp2Session {
    const createConnection = (): tls.TLSSocket => tls.connect({ socket: this.bare(), rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    return http2.connect('https://a', { createConnection });
  }

  async secure(): Promise<tls.TLSSocket> {
    const secure = tls.connect({ socket: this.bare(), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    await once(secure, 'secureConnect');
    return secure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await this.server.close();
  }
}

async function answerTo(socket: tls.TLSSocket): Promise<string> {
  socket.write(request);
  let text = '';
  while (!text.endsWith('done')) text += String(((await once(socket, 'data')) as [Buffer])[0]);
  return text;
}

/** A port that stays open, whose connections go to a server. */
class Port implements ConnectionSource {
  readonly listener = net.createServer();
  get address(): AddressInfo {
    return this.listener.address() as AddressInfo;
  }
  accept(onConnection: (socket: Socket) => void): void {
    this.listener.on('connection', onConnection);
  }
}

describe('a server that ends', () => {
  it.each(['own', 'node'] as const)(
    'answers the first requests of accepted connections, as the last ones, with HTTP/2 by %s',
    async (http2Server) => {
      const server = new SecureServer({ ...options, http2Server }, serve);
      await using served = new Served(server, await server.listen(0, '127.0.0.1'));
      const secure = await served.secure();
      const session = served.session();
      await once(session, 'remoteSettings');
      server.stopListening();
      const settled = server.settled();
      expect(await answerTo(secure)).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
      const stream = session.request({ ':path': '/' });
      const goAway = once(session, 'goaway');
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(headers[':status']).toBe(200);
      expect((await goAway).slice(0, 2)).toEqual([http2.constants.NGHTTP2_NO_ERROR, 1]);
      await settled;
      session.destroy();
    },
  );

  it('lets the clients of a port that stays open send their next request', async () => {
    const port = new Port();
    port.listener.listen(0, '127.0.0.1');
    await once(port.listener, 'listening');
    const server = new SecureServer({ ...options, source: port }, serve);
    await using served = new Served(server, await server.listen(0, ''));
    const secure = await served.secure();
    expect(await answerTo(secure)).not.toMatch(/Connection: close/i);
    const session = served.session();
    await once(session.request({ ':path': '/' }), 'response');
    const sent = once(session.request({ ':path': '/' }), 'response');
    const goAway = once(session, 'goaway');
    server.stopListening();
    expect(await answerTo(secure)).toMatch(/Connection: close/i);
    expect((await goAway).slice(0, 2)).toEqual([http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1]);
    await sent;
    await server.settled();
    session.destroy();
    port.listener.close();
  });
});
