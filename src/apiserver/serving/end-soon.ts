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

/** Time in which a client has to read something of what was written before the end of its connection. */
const stalledMs = 60_000;

/**
 * Closes a connection of another protocol: waits until the client has read the written bytes, then a grace period for its own end. A client
 * that reads nothing, or never closes its side, cannot keep the connection open.
 */
export function endWhenRead(socket: Duplex): void {
  if (socket.writableEnded) return;
  let unread = Infinity;
  const timer = setInterval(() => {
    if (socket.writableLength >= unread) socket.destroy();
    unread = socket.writableLength;
  }, stalledMs).unref();
  socket.once('close', () => clearInterval(timer));
  socket.end(() => setTimeout(() => socket.destroy(), graceMs).unref());
}
