import { ServerResponse } from 'node:http';
import type { ServerStream } from './server-stream.ts';

/** An answer under way. */
export type Answer = ServerResponse | ServerStream;

/** Bodies up to this size leave whether the client reads or not: connections and first windows of HTTP/2 take them. */
const leavesAtOnceBytes = 16 * 1024;

/**
 * Breaks an answer off once its client has taken none of its pieces for so long (up to twice that): it would be held for as long as the
 * connection is. To be called for an answer of which all is there. Upstream breaks off what has not left by the request's deadline
 * (server/filters/timeout.go); here a client may be slow, as long as it reads.
 */
export function cutOffIfStalled(answer: Answer, milliseconds: number, bytes = Infinity): void {
  if (bytes <= leavesAtOnceBytes) return;
  let hasMoved = true;
  const timer = setInterval(() => {
    if (!hasMoved && answer.writableLength > 0) answer.destroy();
    if (answer.destroyed) clearInterval(timer);
    hasMoved = false;
  }, milliseconds);
  timer.unref();
  const moved = (): void => {
    hasMoved = true;
  };
  const stop = (): void => clearInterval(timer);
  if (answer instanceof ServerResponse) {
    answer.on('drain', moved);
    answer.on('close', stop);
  } else {
    answer.on('sent', moved);
    answer.on('close', stop);
  }
}
