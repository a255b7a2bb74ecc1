import { Buffer } from 'node:buffer';
import type { TLSSocket } from 'node:tls';

/** Maximum size of a TLS record. */
const recordBytes = 16 * 1024;

/** False with `KUBENEST_ENGINE_TUNING=off`, which does without private parts of Node. */
const usesInternals = process.env['KUBENEST_ENGINE_TUNING'] !== 'off';

/** Read buffer shared by all connections; its content is processed before the next read. */
const shared = Buffer.allocUnsafeSlow(recordBytes);

/** Members behind the `onread` option of net.Socket, which Node supports for clients only. */
interface ReadingSocket {
  readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null;
  [key: symbol]: unknown;
}

/**
 * Passes the bytes that a socket reads to `take`, which must copy bytes that it keeps, because the buffer is reused; reading pauses
 * if it returns false. Otherwise each record is allocated by malloc and V8 and passes a stream's queue, which is most of the cost
 * of a small frame; a client that reads a list or a thousand watches sends one for every four kilobytes. Streams other than Node's
 * sockets, and sockets with queued bytes, are read by `data` events.
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
  // Required for the `end` event.
  socket.resume();
}

/** Returns the symbols, which each socket has with the value null; undefined in a Node version without them. */
function readingSymbols(socket: TLSSocket): { readonly kBuffer?: symbol; readonly kBufferCb?: symbol } {
  return Object.fromEntries(Object.getOwnPropertySymbols(socket).map((symbol) => [symbol.description, symbol]));
}
