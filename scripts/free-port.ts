import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Returns a currently unused port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const probe = await listen(0);
  const { port } = probe.address() as AddressInfo;
  await close(probe);
  return port;
}

/** Returns a port of 127.0.0.1 that is free together with the next one, as an etcd takes them for its clients and its peers. */
export async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    try {
      await close(await listen(port));
      await close(await listen(port + 1));
      return port;
    } catch {
      // The next port is in use: look for another pair.
    }
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
