/** An answer under way: of HTTP/1.1 the response, of HTTP/2 the stream. */
interface Answer {
  /** Bytes that wait to leave. */
  readonly writableLength: number;
  readonly destroyed: boolean;
  on(event: 'drain' | 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Bodies up to this size leave whether the client reads or not: connections and first windows of HTTP/2 take them. */
const leavesAtOnceBytes = 16 * 1024;

/**
 * Breaks an answer off once its client has taken none of its pieces for so long (up to twice that): it would be held for as long as the
 * connection is. To be called for an answer of which all is there. Upstream breaks off what has not left by the request's deadline
 * (server/filters/timeout.go); here a client may be slow, as long as it reads. The timeouts of node:http2 are of no use: they do not come
 * where other streams of the connection go on.
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
  answer.on('drain', () => {
    hasMoved = true;
  });
  answer.on('close', () => clearInterval(timer));
}
