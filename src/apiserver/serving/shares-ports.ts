import { once } from 'node:events';
import { createServer } from 'node:net';

/** True if this platform distributes the connections of a port among all its listeners. */
export const sharesPorts = process.platform === 'linux' || process.platform === 'freebsd';

/** Rejects with EADDRINUSE if the port is in use, because listeners of one user on a shared port do not detect each other. */
export async function assertFree(port: number, host: string): Promise<void> {
  const server = createServer();
  server.listen({ port, host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
