import { StatusError } from 'kubenest/sdk';
import {
  dialErrorText,
  type JsonAnswer,
  JsonClient,
  newGenericServerResponse,
  type ServiceResolver,
  statusOf,
  type WebhookClientConfig,
  WebhookError,
  type WebhookTarget,
  webhookTarget,
} from '#sdk/internal';
import type { WebhookCredentials } from './credentials.ts';

const userAgent = 'kube-apiserver-admission';
/** Timeout of webhooks without one. Upstream: util/webhook/authentication.go. */
const longestMs = 30_000;
const maxClients = 200;
const certificateHead = '-----BEGIN CERTIFICATE-----';

/** A request without a successful response. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

/** A webhook's configuration of which no client can be made. Upstream: webhook.ErrCallingWebhook before the request. */
export class ClientError extends Error {}

/** A webhook with the key of its client; webhooks with the same server and authorities share connections. */
interface Target extends WebhookTarget {
  readonly key: string;
}

/**
 * Sends requests to webhooks with their configured authorities and the credentials of the admission configuration. The size
 * of responses is limited. Upstream: apiserver/pkg/util/webhook/client.go.
 */
export class WebhookClient implements Disposable {
  readonly #targets = new WeakMap<WebhookClientConfig, Target>();
  /** Clients by server name and authorities, oldest first; a change of the configuration creates a new client. */
  readonly #clients = new Map<string, JsonClient>();

  constructor(
    readonly resolver: ServiceResolver,
    readonly credentials: WebhookCredentials,
  ) {}

  /**
   * Posts JSON and returns the body of a successful response. `headers` are added to the client's own. Rejects with a
   * RequestError.
   */
  async post(config: WebhookClientConfig, body: string, timeoutMs: number, headers?: Readonly<Record<string, string>>): Promise<Buffer> {
    const target = this.#targetOf(config);
    const limit = Math.min(timeoutMs, longestMs);
    const path = `${target.path}${target.path.includes('?') ? '&' : '?'}timeout=${Math.ceil(limit / 1_000)}s`;
    let answer: JsonAnswer;
    try {
      answer = await this.#clientFor(target).exchange('POST', body, { path, timeoutMs: limit, ...(headers && { headers }) });
    } catch (error) {
      throw requestError(`https://${target.authority}${path}`, error);
    }
    if (answer.bytes.length > 0) return answer.bytes;
    const type = answer.contentType || 'application/json';
    throw new RequestError(`0-length response with status code: ${answer.status} and content type: ${type}`, 503);
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client[Symbol.dispose]();
    this.#clients.clear();
  }

  #targetOf(config: WebhookClientConfig): Target {
    const known = this.#targets.get(config);
    if (known) return known;
    try {
      const found = webhookTarget(config, this.resolver);
      if (found.certificateAuthority?.includes(certificateHead) === false)
        throw new ClientError('unable to load root certificates: unable to parse bytes as PEM block');
      const { service } = config;
      const target = {
        ...found,
        key: `${service ? `${service.namespace}/${service.name}` : ''}|${found.url.origin}|${config.caBundle ?? ''}`,
      };
      this.#targets.set(config, target);
      return target;
    } catch (error) {
      throw error instanceof ClientError ? error : new RequestError((error as Error).message, 500);
    }
  }

  #clientFor({ key, url, authority, certificateAuthority, endpoint, dial }: Target): JsonClient {
    let client = this.#clients.get(key);
    if (!client) {
      if (this.#clients.size >= maxClients) this.#forgetOldest();
      const credentials = this.credentials.for(`${url.hostname}:${url.port || 443}`);
      const connection = { url, certificateAuthority, serverName: undefined, insecure: false, ...credentials };
      client = new JsonClient(connection, { timeoutMs: longestMs, retryMs: 0, authority, userAgent, endpoint, dial });
      this.#clients.set(key, client);
    }
    return client;
  }

  #forgetOldest(): void {
    const [key, client] = this.#clients.entries().next().value as [string, JsonClient];
    this.#clients.delete(key);
    client[Symbol.dispose]();
  }
}

function requestError(place: string, error: unknown): RequestError {
  if (error instanceof WebhookError && error.status !== 0) return refusal(error.status, error.answer && objectOf(error.answer));
  const isAnswered = error instanceof WebhookError;
  const text = isAnswered && error.isTimeout ? error.message : dialErrorText(isAnswered ? error.cause : error);
  return new RequestError(`Post ${JSON.stringify(place)}: ${text}`, statusOf(error)?.code ?? 503);
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error of a failed response: the message of a Status, but no other content, which is untrusted. */
function refusal(code: number, answer: Readonly<Record<string, unknown>> | undefined): RequestError {
  const status = answer && answer['kind'] === 'Status' && typeof answer['message'] === 'string' ? answer['message'] : undefined;
  const error = newGenericServerResponse(code, 'POST', undefined, '', 'unknown', 0, true);
  return new RequestError(status ?? (error instanceof StatusError ? error.message : String(error)), code);
}
