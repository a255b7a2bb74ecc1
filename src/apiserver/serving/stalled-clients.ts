import { ServerResponse } from 'node:http';
import type { ServerStream } from './server-stream.ts';

/** A pending response. */
export type Answer = ServerResponse | ServerStream;

/** Bodies up to this size are sent even if the client does not read: connections and initial windows of HTTP/2 accept them. */
const leavesAtOnceBytes = 16 * 1024;

/**
 * Aborts a complete response if its client has read none of it for the given time (at most twice that), because it would be held
 * for the lifetime of the connection. Upstream aborts responses at the request's deadline (server/filters/timeout.go); here a
 * client may be slow as long as it reads.
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
