import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueServingCertificate } from '#testing/serving-certificate';
import type { Json } from './custom-kinds.ts';

/** A webhook of a test, over HTTPS. */
export interface WebhookServer extends Disposable {
  readonly port: number;
  /** PEM of whom to trust. */
  readonly certificateAuthority: string;
}

/** Answers each review with what `answer` makes of it. */
export async function startWebhook(answer: (review: Json, headers: IncomingHttpHeaders) => Json): Promise<WebhookServer> {
  const { cert, key, certificateAuthority } = await issueServingCertificate();
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString()) as Json, request.headers)));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    certificateAuthority,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
