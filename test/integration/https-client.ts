import https from 'node:https';
import type { TestCluster } from '#testing/index';
import type { Json } from './custom-kinds.ts';

export interface HttpsAnswer {
  readonly status: number;
  readonly body: Json;
  readonly warning: string | undefined;
}

/** Sends requests to a test cluster over persistent TLS connections, until disposed. */
export class HttpsClient implements Disposable {
  readonly #agent = new https.Agent({ keepAlive: true });

  constructor(readonly cluster: TestCluster) {}

  /** Sends a request as a user; a PATCH is a merge patch. */
  call(method: string, path: string, body?: object, as = 'admin'): Promise<HttpsAnswer> {
    const { cluster } = this;
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${cluster.token(as)}`, 'content-type': type };
    const options = { method, agent: this.#agent, ca: cluster.certificateAuthority, headers };
    return new Promise((resolve, reject) => {
      const request = https.request(`${cluster.url}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const warning = response.headers['warning'] as string | undefined;
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as Json, warning });
        });
      });
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
