import type { Duplex } from 'node:stream';

/** Upstream: net/http/server.go (rstAvoidanceDelay). */
const graceMs = 500;

/**
 * Ends a connection whose client may still be sending: with what was written, `last` behind it, and a grace period in which the client can read
 * that. A socket that is destroyed with unread octets resets the connection, and what was written is lost.
 */
export function endSoon(socket: Duplex, last?: string): void {
  if (socket.writableEnded) return;
  socket.end(last);
  setTimeout(() => socket.destroy(), graceMs).unref();
}
