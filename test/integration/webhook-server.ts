import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Authority } from '#cmd/certificates/issue';
import type { Json } from './custom-kinds.ts';

/** A webhook server for tests, over HTTPS. */
export interface WebhookServer extends Disposable {
  readonly port: number;
  /** PEM of the server's CA. */
  readonly certificateAuthority: string;
}

/** A received review. */
export interface Asked {
  /** Path without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Starts a server that answers each review with `answer`; `names` are those of its certificate. */
export async function startWebhook(
  answer: (review: Json, asked: Asked) => Json | Promise<Json>,
  names: readonly string[] = ['localhost', '127.0.0.1'],
): Promise<WebhookServer> {
  const authority = await Authority.create('webhook-test');
  const pair = await authority.issue({ commonName: 'webhook', names: [...names], usages: ['server'] });
  const server = createServer(pair, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [path = ''] = (request.url ?? '').split('?', 1);
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      void Promise.resolve(answer(review, { path, headers: request.headers })).then((made) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(made));
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    certificateAuthority: authority.pair.cert,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
