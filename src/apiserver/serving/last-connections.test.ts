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
    const socket = tls.connect({ port: this.address.port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    this.sockets.push(socket);
    return http2.connect('https://a', { createConnection: () => socket });
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
  const closed = once(socket, 'close').then(() => ['closed, done']);
  while (!text.endsWith('done')) text += String(((await Promise.race([once(socket, 'data'), closed])) as [Buffer])[0]);
  return text;
}

async function statusOf(session: http2.ClientHttp2Session): Promise<number | undefined> {
  const [headers] = (await once(session.request({ ':path': '/' }), 'response')) as [http2.IncomingHttpStatusHeader];
  return headers[':status'];
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

  // Bytes that a client sends before it reads the end of its connection are in the kernel when the server looks for idle connections.
  it.each(['own', 'node'] as const)('answers the requests that arrive as it ends, with HTTP/2 by %s', async (http2Server) => {
    const server = new SecureServer({ ...options, http2Server }, serve);
    await using served = new Served(server, await server.listen(0, '127.0.0.1'));
    const secure = await Promise.all(Array.from({ length: 5 }, () => served.secure()));
    for (const socket of secure) await answerTo(socket);
    const sessions = Array.from({ length: 5 }, () => served.session());
    for (const session of sessions) expect(await statusOf(session)).toBe(200);
    const answers = Promise.all(secure.map(answerTo));
    const statuses = Promise.all(sessions.map(statusOf));
    server.stopListening();
    await server.settled();
    await server.close();
    for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
    expect(await statuses).toEqual([200, 200, 200, 200, 200]);
  });

  it.each(['own', 'node'] as const)(
    'lets clients read the end of their connections when it closes, with HTTP/2 by %s',
    async (http2Server) => {
      const server = new SecureServer({ ...options, http2Server }, serve);
      await using served = new Served(server, await server.listen(0, '127.0.0.1'));
      const secure = await served.secure();
      await answerTo(secure);
      const session = served.session();
      expect(await statusOf(session)).toBe(200);
      const [goAway, ended] = [once(session, 'goaway'), once(secure, 'end')];
      // Without `settled`, requests that arrive now are dropped, not reset.
      secure.write(request);
      session.on('error', () => undefined);
      session.request({ ':path': '/' }).on('error', () => undefined);
      await server.close();
      expect((await goAway)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
      await ended;
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
