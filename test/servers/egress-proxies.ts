/** Test proxies for egress: HTTP CONNECT on a port or a Unix socket, and the konnectivity service. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net';
import { type handleBidiStreamingCall, Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { packet, packetType } from '#apiserver/network/egress-selector/konnectivity';

export interface EgressProxy extends AsyncDisposable {
  /** `127.0.0.1:port`, or the path of the socket. */
  readonly address: string;
  /** Targets that clients have requested. */
  readonly targets: string[];
  /** True if it rejects requests. */
  refuses: boolean;
}

interface ProxyOptions {
  /** Path of a Unix socket; undefined: a port. */
  readonly socket?: string;
  readonly pair?: { readonly cert: string; readonly key: string };
  /** CA of the client certificates that it requires. */
  readonly clientCa?: string;
}

function hostAndPort(target: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${target}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function disposing(server: NetServer, sockets: Set<Socket>): () => Promise<void> {
  return async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
}

export async function startHttpProxy({ socket, pair, clientCa }: ProxyOptions = {}): Promise<EgressProxy> {
  const server = pair
    ? createHttpsServer({ ...pair, ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }) })
    : createHttpServer();
  const sockets = new Set<Socket>();
  const targets: string[] = [];
  server.on('connection', (one: Socket) => sockets.add(one));
  server.on('connect', ({ url = '' }, client) => {
    targets.push(url);
    if (proxy.refuses) {
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const remote = connect(hostAndPort(url), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      remote.pipe(client).pipe(remote);
    });
    remote.on('error', () => client.destroy());
    client.on('error', () => remote.destroy());
  });
  await new Promise<void>((resolve) => (socket === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(socket, resolve)));
  const proxy: EgressProxy = {
    address: socket ?? `127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    refuses: false,
    [Symbol.asyncDispose]: disposing(server, sockets),
  };
  return proxy;
}

type Packet = ReturnType<typeof packet.decode>;
type Sent = Parameters<typeof packet.encode>[0];

/** Starts a konnectivity proxy with one connection for each stream, as the server uses it. */
export async function startKonnectivity(socket: string): Promise<EgressProxy> {
  const server = new Server();
  const sockets = new Set<Socket>();
  const targets: string[] = [];
  const handle: handleBidiStreamingCall<Packet, Sent> = (stream) => {
    const connectId = 7;
    let remote: Socket | undefined;
    const dial = (target: string, random: number | bigint): void => {
      targets.push(target);
      const answer = (error: string): void =>
        void stream.write({ type: packetType.dialResponse, dialResponse: { error, connectId, random } });
      if (proxy.refuses) return answer('no agent available');
      const connected = connect(hostAndPort(target), () => answer(''));
      remote = connected;
      sockets.add(connected);
      connected.on('data', (data: Buffer) => stream.write({ type: packetType.data, data: { connectId, data } }));
      connected.on('error', ({ message }) => answer(message));
      connected.on('close', () => {
        sockets.delete(connected);
        stream.write({ type: packetType.closeResponse, closeResponse: { connectId } });
      });
    };
    stream.on('data', ({ type, dialRequest, data }: Packet) => {
      if (type === packetType.dialRequest) dial(dialRequest?.address ?? '', dialRequest?.random ?? 0);
      else if (type === packetType.data) remote?.write(data?.data ?? Buffer.alloc(0));
      else if (type === packetType.closeRequest) remote?.end();
    });
    stream.on('end', () => {
      remote?.destroy();
      stream.end();
    });
    stream.on('error', () => remote?.destroy());
  };
  const definition = {
    path: '/ProxyService/Proxy',
    requestStream: true,
    responseStream: true,
    requestDeserialize: (message: Buffer) => packet.decode(message),
    responseSerialize: (values: Sent) => packet.encode(values),
    // Required by the type, used only by clients.
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => undefined,
  } as const;
  server.addService({ Proxy: definition }, { Proxy: handle } as UntypedServiceImplementation);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
  );
  const proxy: EgressProxy = {
    address: socket,
    targets,
    refuses: false,
    async [Symbol.asyncDispose]() {
      for (const one of sockets) one.destroy();
      server.forceShutdown();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return proxy;
}
