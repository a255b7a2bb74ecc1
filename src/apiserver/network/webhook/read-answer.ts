import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** The whole body of an answer. Rejects when the connection breaks, and for a body of more than `limit` bytes, which is not read on. */
export function readAnswer(answer: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) answer.destroy(new Error(`the answer has more than ${limit} bytes`));
      else chunks.push(chunk);
    });
    answer.on('error', reject);
    answer.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
