/** A TCP proxy between a server and its store with which tests cut, stop and slow down the network. */
import type { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Port for new connections. */
  target: number;
  /** Delay of bytes in both directions. */
  delayMs: number;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Stops forwarding silently. */
  hold(): void;
  /** Stops forwarding on existing connections silently and permanently; new connections work. */
  strand(): void;
  /** Undoes `cut` and `hold`; held bytes are forwarded now. */
  heal(): void;
}

export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const stranded = new Set<Socket>();
  let isCut = false;
  let isHeld = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        stranded.delete(socket);
      });
    if (isHeld) socket.pause();
    return socket;
  };
  const server = createServer((client) => {
    if (isCut) {
      client.on('error', () => {}).destroy();
      return;
    }
    const upstream = connect(proxy.target, '127.0.0.1');
    pass(track(client), track(upstream));
    pass(upstream, client);
  });
  const pass = (from: Socket, to: Socket): void => {
    let last: Promise<void> = Promise.resolve();
    /** Delayed bytes, which later ones must not overtake. */
    let late = 0;
    from.setNoDelay(true).on('data', (data: Buffer) => {
      if (proxy.delayMs === 0 && late === 0) {
        to.write(data);
        return;
      }
      late += 1;
      const due = new Promise<void>((resolve) => setTimeout(resolve, proxy.delayMs));
      last = Promise.all([last, due]).then(() => {
        late -= 1;
        if (!to.destroyed) to.write(data);
      });
    });
    from.on('close', () => stranded.has(to) || to.destroy());
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    target,
    delayMs: 0,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    strand() {
      for (const socket of sockets) {
        socket.pause();
        stranded.add(socket);
      }
    },
    heal() {
      isCut = false;
      isHeld = false;
      for (const socket of sockets) if (!stranded.has(socket)) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
