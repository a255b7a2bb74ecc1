import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/endpoints/request/exchange';

/**
 * Collects a request's body. `expected` is its Content-Length, 0 if unknown: a body that announces more than `limit` is
 * refused before it is read.
 */
export function collectBody(source: Readable, expected: number, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (expected > limit) return void reject(new BodyTooLargeError(`the body has ${expected} bytes`));
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void): void => {
      source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit)
        settle(() => {
          source.resume();
          reject(new BodyTooLargeError(`the body has more than ${limit} bytes`));
        });
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    const onClose = (): void => settle(() => reject(new ClientGoneError('the client closed the connection')));
    const onError = (cause: Error): void => settle(() => reject(new ClientGoneError('the request was cut off', { cause })));
    source.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}
