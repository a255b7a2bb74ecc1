import { Buffer } from 'node:buffer';
import { newServiceUnavailable, type StatusError } from '#apimachinery/api/errors';
import { type JsonAnswer, JsonClient, type JsonMethod, type JsonRequest, WebhookError } from '#apiserver/network/webhook/json-client';
import type { ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import type { Exchange } from '#apiserver/request/exchange';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Client, RequestClient } from '#apiserver/registry/client';
import { UserClient } from '#apiserver/server/user-client';

const userAgent = 'kubenest-webhook';
const timeoutMs = 30_000;
/** Upper limit of a request's and of an answer's body. A chunk of a list has up to 500 objects. */
const maxRequestBytes = 64 * 1024 * 1024;
const maxAnswerBytes = 512 * 1024 * 1024;
/** The user of the connection's credentials. */
const own: UserInfo = { name: '', groups: [] };

/** The API of a cluster that another server serves. */
export class ClusterApi implements Disposable {
  /** Acts as the user of the connection's credentials. */
  readonly client: RequestClient;
  readonly #json: JsonClient;
  readonly #root: string;

  constructor(readonly connection: ServiceConnection) {
    this.#json = new JsonClient(connection, { timeoutMs, retryMs: 0, maxAnswerBytes, userAgent });
    this.#root = connection.url.pathname.replace(/\/$/, '');
    this.client = new UserClient((exchange) => void this.#forward(exchange, own), own, userAgent);
  }

  /** Returns the client for plugins, which can act as other users by impersonation. */
  get pluginClient(): Client {
    const { client } = this;
    return {
      get: (...call) => client.get(...call),
      list: (target, namespace) => client.list(target, namespace),
      create: (...call) => client.create(...call),
      update: (...call) => client.update(...call),
      delete: (...call) => client.delete(...call),
      asUser: (user) => new UserClient((exchange) => void this.#forward(exchange, user), user, userAgent),
    };
  }

  /** Yields the events of a watch until it ends. Throws a WebhookError. */
  watch(path: string, signal: AbortSignal, request: { readonly timeoutMs: number }): AsyncIterable<Readonly<Record<string, unknown>>> {
    return this.#json.follow(signal, { path: `${this.#root}${path}`, ...request });
  }

  /** Returns a client that posts to one path of the API, such as that of access reviews. */
  at(path: string): JsonClient {
    const url = new URL(this.connection.url);
    url.pathname = `${this.#root}${path}`;
    return new JsonClient({ ...this.connection, url }, { timeoutMs: 10_000, retryMs: 0, userAgent });
  }

  [Symbol.dispose](): void {
    this.#json[Symbol.dispose]();
  }

  /** Sends a request to the cluster and answers it with the cluster's answer. */
  async #forward(exchange: Exchange, user: UserInfo): Promise<void> {
    const { status, contentType, bytes } = await this.#answerOf(exchange, user).catch(answerOfFailure);
    exchange.send(status, ['Content-Type', contentType], bytes);
  }

  async #answerOf(exchange: Exchange, user: UserInfo): Promise<JsonAnswer> {
    const body = await exchange.readBody(maxRequestBytes);
    const { accept, 'content-type': contentType } = exchange.headers;
    const request: JsonRequest = { path: `${this.#root}${exchange.url}`, accept, contentType, headers: impersonating(user) };
    return this.#json.exchange(exchange.method as JsonMethod, body.length > 0 ? body.toString('utf8') : undefined, request);
  }
}

/** Returns the cluster's answer to a failed request, or ServiceUnavailable if there is none. */
function answerOfFailure(error: unknown): JsonAnswer {
  const { status = 0, answer, message } = error as Partial<WebhookError>;
  if (error instanceof WebhookError && status !== 0 && answer) return { status, contentType: 'application/json', bytes: answer };
  return unavailable(newServiceUnavailable(`cannot reach the cluster: ${message}`));
}

function unavailable({ status }: StatusError): JsonAnswer {
  return { status: status.code ?? 503, contentType: 'application/json', bytes: Buffer.from(JSON.stringify(status)) };
}

/** Returns the headers by which a request acts as another user. */
function impersonating(user: UserInfo): Record<string, string | string[]> {
  if (user === own) return {};
  const { name, uid, groups, extra = {} } = user;
  return {
    'impersonate-user': name,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, [...values]])),
  };
}
