import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MergedBytes } from '#apiserver/base/merged-bytes';

/** Reads the first `limit` bytes of a response body, and closes its connection if there are more. */
export async function readStart(answer: IncomingMessage, limit: number): Promise<Buffer> {
  const body = new MergedBytes();
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    body.append(chunk);
    if (body.length >= limit) break;
  }
  return body.take().subarray(0, limit);
}

/** Reads a response body. Rejects if the connection breaks or the body exceeds `limit` bytes, and then stops reading. */
export function readAnswer(answer: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new MergedBytes();
    answer.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length > limit) answer.destroy(new Error(`the response exceeds ${limit} bytes`));
      else body.append(chunk);
    });
    answer.on('error', reject);
    answer.on('end', () => resolve(body.take()));
  });
}
