import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { KubeObject } from 'kubenest/sdk';
import { fakeInformers } from 'kubenest/sdk/testing';
import { object } from '../test-objects.ts';

/** A review as the webhook receives it. */
export interface SentReview {
  readonly apiVersion: string;
  readonly request: Readonly<Record<string, unknown>> & { readonly uid: string; readonly object: KubeObject };
}

/** Answer of a webhook to a review: members of the response, or the number of a status code. */
export type HookAnswer = Readonly<Record<string, unknown>> | number;

/** Certificate of the server and of its authority, in PEM. */
export interface HookCertificate {
  readonly cert: string;
  readonly key: string;
  readonly certificateAuthority: string;
}

/** A server of webhooks, whose answers are given by path. */
export class HookServer implements AsyncDisposable {
  readonly asked: SentReview[] = [];
  readonly #shutdown = new AbortController();

  private constructor(
    readonly url: string,
    readonly caBundle: string,
    readonly close: () => Promise<unknown>,
  ) {}

  /** Starts a server with a certificate for 127.0.0.1. */
  static async start(
    { cert, key, certificateAuthority }: HookCertificate,
    answers: Readonly<Record<string, (review: SentReview) => HookAnswer>>,
  ): Promise<HookServer> {
    const server = createServer({ cert, key }, (request, response) => {
      void json(request).then((body) => {
        const review = body as SentReview;
        started.asked.push(review);
        const answer = answers[(request.url ?? '').slice(1).split('?')[0] ?? '']?.(review) ?? 404;
        if (typeof answer === 'number') return void response.writeHead(answer).end();
        const { apiVersion } = review;
        response.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid: review.request.uid, ...answer } }));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new HookServer(
      `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      Buffer.from(certificateAuthority).toString('base64'),
      () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      },
    );
    return started;
  }

  /** Services of a plugin that calls a webhook for each path, in a cluster with the namespace. */
  services(kind: 'Mutating' | 'Validating', hooks: Readonly<Record<string, object>>, namespace: KubeObject) {
    return {
      informers: fakeInformers({
        [`${kind.toLowerCase()}webhookconfigurations.admissionregistration.k8s.io`]: [this.#configuration(kind, hooks)],
        namespaces: [namespace],
      }),
      shutdownSignal: this.#shutdown.signal,
    };
  }

  /** A configuration with a webhook for each path, which are called for created and updated pods. */
  #configuration(kind: 'Mutating' | 'Validating', hooks: Readonly<Record<string, object>>): KubeObject {
    const webhooks = Object.entries(hooks).map(([path, more]) => ({
      name: `${path}.example.com`,
      clientConfig: { url: `${this.url}/${path}`, caBundle: this.caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'], scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
      ...(kind === 'Mutating' && { reinvocationPolicy: 'Never' }),
      ...more,
    }));
    return object(
      'admissionregistration.k8s.io/v1',
      `${kind}WebhookConfiguration`,
      { webhooks },
      { name: 'hooks', uid: 'hooks', generation: 1 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.abort();
    await this.close();
  }
}
