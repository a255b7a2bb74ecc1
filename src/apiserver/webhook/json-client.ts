import { Buffer } from 'node:buffer';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { ServiceConnection } from './kubeconfig.ts';

const maxAnswerBytes = 3 * 1024 * 1024;
/** Upstream: apiserver/pkg/util/webhook/webhook.go (DefaultRetryBackoffWithInitialDelay). */
const retries = { attempts: 5, factor: 1.5, jitter: 0.2 };

/** A request that got no good answer. What the other side said is not in the message: it may be a secret. */
export class WebhookError extends Error {
  constructor(
    message: string,
    /** Whether another attempt may succeed. */
    readonly transient: boolean,
    /** The status of the answer; 0 if there was none. */
    readonly status = 0,
  ) {
    super(message);
  }
}

export interface JsonClientOptions {
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Before the second attempt; it grows by half each time. 0: there is one attempt. */
  readonly retryMs: number;
}

/**
 * Sends JSON objects to a service by POST and reads JSON objects of it, over connections that stay open. No redirects are
 * followed, no proxies of the environment used. Resets, time-outs, 429 and 5xx are tried again.
 */
export class JsonClient implements Disposable {
  readonly #agent: http.Agent;
  readonly #request: typeof https.request;

  constructor(
    readonly connection: ServiceConnection,
    readonly options: JsonClientOptions,
  ) {
    const { url, certificateAuthority, serverName, insecure, clientCertificate } = connection;
    const isSecure = url.protocol === 'https:';
    this.#request = isSecure ? https.request : http.request;
    const name = serverName ?? (isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : undefined);
    this.#agent = isSecure
      ? new https.Agent({
          keepAlive: true,
          minVersion: 'TLSv1.2',
          rejectUnauthorized: !insecure,
          ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
          ...(name !== undefined && { servername: name }),
          ...clientCertificate,
        })
      : new http.Agent({ keepAlive: true });
  }

  /** Rejects with a WebhookError, also for an answer that is no JSON object. */
  async post(body: object): Promise<Readonly<Record<string, unknown>>> {
    return objectOf(await this.deliver(JSON.stringify(body)));
  }

  /** Sends JSON; the body of the answer. Rejects with a WebhookError after the last attempt. */
  async deliver(json: string): Promise<Buffer> {
    const { retryMs } = this.options;
    const bytes = Buffer.from(json);
    let delay = retryMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.send('POST', bytes);
      } catch (error) {
        const isOver = retryMs === 0 || attempt === retries.attempts || !(error instanceof WebhookError && error.transient);
        if (isOver) throw error;
        await new Promise((resolve) => setTimeout(resolve, delay * (1 + Math.random() * retries.jitter)).unref());
        delay *= retries.factor;
      }
    }
  }

  /** One attempt; the body of a 2xx answer. */
  send(method: 'GET' | 'POST', body: Buffer | undefined): Promise<Buffer> {
    const { url, authorization } = this.connection;
    return new Promise((resolve, reject) => {
      const request = this.#request(
        url,
        {
          method,
          agent: this.#agent,
          headers: {
            accept: 'application/json',
            ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
            ...(authorization !== undefined && { authorization }),
          },
          signal: AbortSignal.timeout(this.options.timeoutMs),
        },
        (response) => {
          const status = response.statusCode ?? 0;
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > maxAnswerBytes) response.destroy(new Error(`the answer has more than ${maxAnswerBytes} bytes`));
            else chunks.push(chunk);
          });
          response.on('error', (error) => reject(failure(error)));
          response.on('end', () => {
            if (status >= 200 && status < 300) resolve(Buffer.concat(chunks));
            else reject(new WebhookError(`the service answered ${status}`, status === 429 || status >= 500, status));
          });
        },
      );
      request.on('error', (error) => reject(failure(error)));
      request.end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const transientCodes = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

function failure(error: NodeJS.ErrnoException): WebhookError {
  const isTimeout = error.name === 'TimeoutError' || error.name === 'AbortError';
  return new WebhookError(isTimeout ? 'context deadline exceeded' : error.message, isTimeout || transientCodes.has(error.code ?? ''));
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new WebhookError('the answer is no JSON', false);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WebhookError('the answer is no JSON object', false);
  return value as Readonly<Record<string, unknown>>;
}
