import { Buffer } from 'node:buffer';
import type { TLSSocket } from 'node:tls';

/** No record of TLS has more. */
const recordBytes = 16 * 1024;

/** False with `KUBENEST_ENGINE_TUNING=off`, which does without private parts of Node. */
const usesInternals = process.env['KUBENEST_ENGINE_TUNING'] !== 'off';

/** Where what comes in is put, of whatever connection: it is used before the next is read. */
const shared = Buffer.allocUnsafeSlow(recordBytes);

/** What net.Socket has for its option `onread`, which it takes of clients alone. */
interface ReadingSocket {
  readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null;
  [key: symbol]: unknown;
}

/**
 * Hands what the socket reads to `take`, which must copy what it keeps: the memory is used again. Nothing more is read once it returns false. Else each record has memory of its own, of
 * malloc and of V8, and goes through the queue of a stream, which is most of the work that is done for a small frame: a client that reads a list
 * or a thousand watches sends one for each four kilobytes. What is no socket of Node's, or has something in its queue, is read as any stream.
 */
export function readShared(socket: TLSSocket, take: (chunk: Buffer) => unknown): void {
  const { kBuffer, kBufferCb } = readingSymbols(socket);
  const reading = socket as unknown as ReadingSocket;
  if (!usesInternals || !kBuffer || !kBufferCb || !reading._handle?.useUserBuffer || socket.readableLength > 0) {
    socket.on('data', take);
    return;
  }
  reading[kBuffer] = shared;
  reading[kBufferCb] = (length: number): boolean => {
    return take(shared.subarray(0, length)) !== false;
  };
  reading._handle.useUserBuffer(shared);
  // For its end.
  socket.resume();
}

/** They are set, to null, in each socket; undefined in a version of Node that has them no more. */
function readingSymbols(socket: TLSSocket): { readonly kBuffer?: symbol; readonly kBufferCb?: symbol } {
  return Object.fromEntries(Object.getOwnPropertySymbols(socket).map((symbol) => [symbol.description, symbol]));
}
