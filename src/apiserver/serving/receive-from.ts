import type { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { startSteps, type Steps } from '#apimachinery/runtime/steps';
import { endWhenRead } from './end-soon.ts';

/**
 * Passes what a client sends to a receiver at the pace of both: no more is read while the receiver works, which yields to the event loop,
 * and while the client does not read what was sent to it. An error of the receiver ends this connection alone. `head` was received before.
 */
export function receiveFrom(socket: Duplex, head: Buffer, receive: (bytes: Buffer) => Steps<void>): void {
  const take = async (bytes: Buffer): Promise<void> => {
    socket.pause();
    const steps = receive(bytes);
    try {
      for (let isDone = false; !isDone; ) {
        isDone = await startSteps(whileWritable(steps, socket));
        if (socket.writableNeedDrain) await once(socket, 'drain');
      }
      socket.resume();
    } catch (error) {
      socket.destroy(error as Error);
    }
  };
  if (head.length > 0) socket.unshift(head);
  socket.on('data', (bytes: Buffer) => void take(bytes));
  socket.on('error', () => socket.destroy());
  socket.once('end', () => endWhenRead(socket));
}

/** Runs steps until the client has to read first; returns true at their end. */
function* whileWritable(steps: Steps<void>, socket: Duplex): Steps<boolean> {
  while (!steps.next().done) {
    if (socket.writableNeedDrain) return false;
    yield;
  }
  return true;
}
