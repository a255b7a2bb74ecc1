import type { Duplex } from 'node:stream';

/** Grace period. Upstream: net/http/server.go (rstAvoidanceDelay). */
const graceMs = 500;

/**
 * Closes a connection whose client may still be sending: flushes the written bytes and `last`, and waits a grace period in which
 * the client can read them. Destroying a socket with unread bytes would reset the connection and lose the written ones.
 */
export function endSoon(socket: Duplex, last?: string): void {
  if (socket.writableEnded) return;
  socket.end(last);
  setTimeout(() => socket.destroy(), graceMs).unref();
}
