import { Buffer } from 'node:buffer';
import type http from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { answerOf, headLimits } from '#apiserver/network/answer-of';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Endpoint } from '#apiserver/network/endpoint';
import { trustOptions } from '#apiserver/network/trust';
import type { Credential, CredentialSource } from './credential-source.ts';
import { sharedExecCredentials } from './exec-credentials.ts';
import type { ServiceConnection, UserCredentials } from './kubeconfig.ts';
import { readAnswer } from './read-answer.ts';
import { TokenFile } from './token-file.ts';

/** Highest status of a successful response. Upstream: client-go/rest/request.go. */
const lastGoodStatus = 206;
const defaultAnswerBytes = 3 * 1024 * 1024;
/** Maximum number of retries requested by a service. Upstream: client-go/rest/with_retry.go. */
const mostRetriesAsked = 10;
/** Longer than any request's timeout; a timer of more than 24 days would fire immediately. */
const longestWaitSeconds = 3600;
/** Retry policy. Upstream: apiserver/pkg/util/webhook/webhook.go (DefaultRetryBackoffWithInitialDelay). */
const retries = { attempts: 5, factor: 1.5, jitter: 0.2 };

/** A failed request. The message omits the response body, which may contain secrets. */
export class WebhookError extends Error {
  constructor(
    message: string,
    /** True if a retry may succeed. */
    readonly transient: boolean,
    /** HTTP status of the response; 0 if there was none. */
    readonly status = 0,
    /** Body of the response. */
    readonly answer?: Buffer,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** True if the request timed out. */
  get isTimeout(): boolean {
    return isTimeout(this.cause);
  }
}

export interface JsonClientOptions {
  /** Timeout of one attempt. */
  readonly timeoutMs: number;
  /** Delay before the second attempt, which grows by half for each further one. 0: a single attempt. */
  readonly retryMs: number;
  /** Maximum size of a response. Default: 3 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Returns the address to connect to instead of the URL's host; called for each attempt. Throws if it is unavailable. */
  readonly endpoint?: (() => Endpoint) | undefined;
  /** Dialer; undefined: direct connections. */
  readonly dial?: Dial | undefined;
  /** Value of the Host header. Default: the URL's host. */
  readonly authority?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** Options of one request. */
export interface JsonRequest {
  /** Path with query. Default: the URL's. */
  readonly path?: string;
  /** Timeout. Default: the client's. */
  readonly timeoutMs?: number;
  /** Additional headers, repeated for a list; the client's own take precedence. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Value of the Accept header. Default: JSON preferred. */
  readonly accept?: string | undefined;
  /** Media type of the body. Default: JSON. */
  readonly contentType?: string | undefined;
}

export type JsonMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A successful response. */
export interface JsonAnswer {
  readonly status: number;
  /** Content-Type; empty if missing. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Posts JSON objects to a service and reads JSON responses, over persistent connections. Redirects and environment proxies
 * are ignored. A 429 or 5xx with Retry-After is retried up to ten times within the timeout of one attempt; with `retryMs`,
 * resets, timeouts and any 429 or 5xx are retried in further attempts.
 */
export class JsonClient implements Disposable {
  readonly #request: typeof requestSecure;
  readonly #place: ReturnType<typeof urlToHttpOptions>;
  readonly #headers: Readonly<Record<string, string>>;
  /** Source of changing credentials. */
  readonly #source: CredentialSource | undefined;
  #agent: http.Agent;
  /** Current client certificate of the connections. */
  #certificate: UserCredentials['clientCertificate'];

  constructor(
    readonly connection: ServiceConnection,
    readonly options: JsonClientOptions,
  ) {
    const { url, clientCertificate, authorization } = connection;
    this.#request = url.protocol === 'https:' ? requestSecure : requestPlain;
    this.#place = urlToHttpOptions(url);
    this.#headers = {
      accept: 'application/json, */*',
      host: options.authority ?? url.host,
      ...(options.userAgent !== undefined && { 'user-agent': options.userAgent }),
      ...(authorization !== undefined && { authorization }),
    };
    this.#source = credentialSourceOf(connection);
    this.#certificate = clientCertificate;
    this.#agent = this.#newAgent();
  }

  #newAgent(): http.Agent {
    const { url, certificateAuthority, serverName, insecure } = this.connection;
    const isSecure = url.protocol === 'https:';
    const name = serverName ?? (isIP(String(this.#place.hostname)) === 0 ? url.hostname : undefined);
    return agentOf(this.options.dial, isSecure, {
      keepAlive: true,
      ...(isSecure && {
        minVersion: 'TLSv1.2',
        ...trustOptions({ ca: certificateAuthority, insecure }),
        ...(name !== undefined && { servername: name }),
        ...this.#certificate,
      }),
    });
  }

  /** Posts an object and returns the response. Rejects with a WebhookError, also if the response is not a JSON object. */
  async post(body: object): Promise<Readonly<Record<string, unknown>>> {
    return objectOf((await this.deliver(JSON.stringify(body))).toString('utf8'));
  }

  /** Posts JSON and returns the response body. Rejects with a WebhookError after the last attempt. */
  async deliver(json: string): Promise<Buffer> {
    const { retryMs } = this.options;
    let delay = retryMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.send('POST', json);
      } catch (error) {
        const isOver = retryMs === 0 || attempt === retries.attempts || !(error instanceof WebhookError && error.transient);
        if (isOver) throw error;
        await new Promise((resolve) => setTimeout(resolve, delay * (1 + Math.random() * retries.jitter)).unref());
        delay *= retries.factor;
      }
    }
  }

  /**
   * Makes one attempt and returns the body of a successful response. Rejects with a WebhookError, or with the error of
   * `endpoint`.
   */
  async send(method: JsonMethod, body: string | undefined, request: JsonRequest = {}): Promise<Buffer> {
    return (await this.exchange(method, body, request)).bytes;
  }

  /** Like `send`, with the response headers. */
  async exchange(method: JsonMethod, body: string | undefined, request: JsonRequest = {}): Promise<JsonAnswer> {
    const response = await this.#answer(method, body, request);
    const bytes = await this.#wholeOf(response);
    const { statusCode: status = 0, headers } = response;
    if (!isGood(response)) throw new WebhookError(`the service answered ${status}`, status === 429 || status >= 500, status, bytes);
    return { status, contentType: headers['content-type'] ?? '', bytes };
  }

  /**
   * GETs a streaming response such as a watch and yields its JSON objects, one per line, until it ends. Throws a
   * WebhookError if it fails, times out or the signal aborts.
   */
  async *follow(signal: AbortSignal, request: JsonRequest = {}): AsyncIterable<Readonly<Record<string, unknown>>> {
    const { maxAnswerBytes = defaultAnswerBytes } = this.options;
    const response = await this.#answer('GET', undefined, request, signal);
    if (!isGood(response))
      throw new WebhookError(`the service answered ${response.statusCode}`, false, response.statusCode, await this.#wholeOf(response));
    try {
      let rest = '';
      for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > maxAnswerBytes) throw new Error(`a line has more than ${maxAnswerBytes} characters`);
        for (const line of lines) if (line !== '') yield objectOf(line);
      }
    } catch (error) {
      throw failure(error as Error);
    } finally {
      response.destroy();
    }
  }

  /** Resolves to the response head. Fetches changing credentials first, and again after a rejection. */
  async #answer(method: JsonMethod, body: string | undefined, request: JsonRequest, signal?: AbortSignal): Promise<http.IncomingMessage> {
    const deadline = AbortSignal.timeout(request.timeoutMs ?? this.options.timeoutMs);
    const over = signal ? AbortSignal.any([deadline, signal]) : deadline;
    for (let asked = 0; ; asked += 1) {
      const response = await this.#attempt(method, body, request, over);
      const seconds = asked === mostRetriesAsked ? undefined : secondsToWait(response);
      if (seconds === undefined) return response;
      response.resume();
      await sleep(seconds * 1000, undefined, { signal: over, ref: false }).catch((error: unknown) => {
        throw failure(error as Error);
      });
    }
  }

  async #attempt(method: JsonMethod, body: string | undefined, request: JsonRequest, over: AbortSignal): Promise<http.IncomingMessage> {
    if (!this.#source) return this.#exchange(method, body, request, over);
    const credential = await this.#credential(this.#source, over);
    const { token } = credential;
    const headers = { ...request.headers, ...(token !== '' && { authorization: `Bearer ${token}` }) };
    const response = await this.#exchange(method, body, { ...request, headers }, over);
    if (response.statusCode === 401) this.#source.refused(credential).catch(() => {});
    return response;
  }

  /** Returns the current credentials. Closes connections that used another certificate. */
  async #credential(source: CredentialSource, over: AbortSignal): Promise<Credential> {
    let credential: Credential;
    try {
      credential = await before(over, source.get());
    } catch (error) {
      throw isTimeout(error)
        ? failure(error as Error)
        : new WebhookError(`getting credentials: ${(error as Error).message}`, false, 0, undefined, { cause: error });
    }
    const { certificate } = credential;
    if (certificate?.cert !== this.#certificate?.cert || certificate?.key !== this.#certificate?.key) {
      this.#certificate = certificate;
      this.#agent.destroy();
      this.#agent = this.#newAgent();
    }
    return credential;
  }

  async #exchange(
    method: JsonMethod,
    body: string | undefined,
    { path, headers, accept, contentType = 'application/json' }: JsonRequest,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const place = this.options.endpoint?.();
    const own = { ...headers, ...this.#headers, ...(accept !== undefined && { accept }) };
    const request = this.#request({
      ...this.#place,
      ...headLimits,
      ...(place && { hostname: place.host, port: place.port }),
      ...(path !== undefined && { path }),
      method,
      agent: this.#agent,
      headers: body === undefined ? own : { ...own, 'content-type': contentType, 'content-length': Buffer.byteLength(body) },
      signal,
    });
    request.end(body);
    try {
      return (await answerOf(request)).response;
    } catch (error) {
      throw failure(error as Error);
    }
  }

  async #wholeOf(response: http.IncomingMessage): Promise<Buffer> {
    try {
      return await readAnswer(response, this.options.maxAnswerBytes ?? defaultAnswerBytes);
    } catch (error) {
      throw failure(error as Error);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/**
 * Returns the source of a token file or of a credential program, which is used only if there are no other credentials;
 * undefined if the credentials are static. Upstream: client-go/transport/round_trippers.go, plugin/pkg/client/auth/exec
 * (UpdateTransportConfig).
 */
export function credentialSourceOf(connection: ServiceConnection): CredentialSource | undefined {
  const { exec, url, serverName, insecure, certificateAuthority, clientCertificate, authorization, tokenFile } = connection;
  if (tokenFile !== undefined) return new TokenFile(tokenFile, clientCertificate);
  if (!exec || clientCertificate || authorization !== undefined) return undefined;
  return sharedExecCredentials(exec, {
    server: url.href.replace(/\/$/, ''),
    'tls-server-name': serverName,
    'insecure-skip-tls-verify': insecure || undefined,
    'certificate-authority-data': certificateAuthority && Buffer.from(certificateAuthority).toString('base64'),
  });
}

/** Returns the promise, or rejects if the signal aborts first. */
function before<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

const transientCodes = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

function isGood({ statusCode = 0 }: http.IncomingMessage): boolean {
  return statusCode >= 200 && statusCode <= lastGoodStatus;
}

/** Returns the seconds of the Retry-After header; undefined if there are none. */
function secondsToWait({ statusCode = 0, headers }: http.IncomingMessage): number | undefined {
  const seconds = headers['retry-after'];
  const isAsked = (statusCode === 429 || statusCode >= 500) && seconds !== undefined && /^[+-]?\d+$/.test(seconds);
  return isAsked ? Math.min(Math.max(0, Number(seconds)), longestWaitSeconds) : undefined;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

function failure(error: NodeJS.ErrnoException): WebhookError {
  if (error instanceof WebhookError) return error;
  const isLate = isTimeout(error);
  const isTransient = isLate || transientCodes.has(error.code ?? '');
  return new WebhookError(isLate ? 'context deadline exceeded' : error.message, isTransient, 0, undefined, { cause: error });
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WebhookError('the response is not JSON', false);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WebhookError('the response is not a JSON object', false);
  return value as Readonly<Record<string, unknown>>;
}
