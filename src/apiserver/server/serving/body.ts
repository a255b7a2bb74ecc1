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
    // Listeners stay: to take them off costs more than the calls that come to nothing.
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      chunks.length = 0;
      reject(new BodyTooLargeError(`the body has more than ${limit} bytes`));
    });
    let ended = false;
    source.on('end', () => {
      ended = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    // An error costs its stack trace, also where nobody would see it.
    source.on('close', () => ended || reject(new ClientGoneError('the client closed the connection')));
  });
}
