import { once } from 'node:events';
import { createServer } from 'node:net';

/** Whether this platform spreads the connections of a port over all that listen on it. */
export const sharesPorts = process.platform === 'linux' || process.platform === 'freebsd';

/** Several of one user may listen on a port that is shared: somebody else's is not to be. Rejects with EADDRINUSE. */
export async function assertFree(port: number, host: string): Promise<void> {
  const server = createServer();
  server.listen({ port, host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
