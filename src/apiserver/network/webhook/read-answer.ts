import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** Reads a response body. Rejects if the connection breaks or the body exceeds `limit` bytes, and then stops reading. */
export function readAnswer(answer: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) answer.destroy(new Error(`the response exceeds ${limit} bytes`));
      else chunks.push(chunk);
    });
    answer.on('error', reject);
    answer.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
