import { Buffer } from 'node:buffer';
import type http from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Endpoint } from '#apiserver/network/endpoint';
import { trustOptions } from '#apiserver/network/trust';
import type { Credential, CredentialSource } from './credential-source.ts';
import { sharedExecCredentials } from './exec-credentials.ts';
import type { ServiceConnection, UserCredentials } from './kubeconfig.ts';
import { readAnswer } from './read-answer.ts';
import { TokenFile } from './token-file.ts';

/** Upstream: client-go/rest/request.go. */
const lastGoodStatus = 206;
const defaultAnswerBytes = 3 * 1024 * 1024;
/** How often a service may ask for the same request once more. Upstream: client-go/rest/with_retry.go. */
const mostRetriesAsked = 10;
/** More than any request's time: a timer for more than 24 days would fire at once. */
const longestWaitSeconds = 3600;
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
    /** The body of the answer. */
    readonly answer?: Buffer,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Whether the service took longer than it may. */
  get isTimeout(): boolean {
    return isTimeout(this.cause);
  }
}

export interface JsonClientOptions {
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Before the second attempt; it grows by half each time. 0: there is one attempt. */
  readonly retryMs: number;
  /** What an answer may have. Default: 3 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Where to connect to instead of the URL's host, asked for each attempt. Throws for a place that cannot be reached. */
  readonly endpoint?: (() => Endpoint) | undefined;
  /** How connections are made; undefined: straight. */
  readonly dial?: Dial | undefined;
  /** What the Host header says. Default: the URL's host. */
  readonly authority?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** What one request has of its own. */
export interface JsonRequest {
  /** With its query. Default: the URL's. */
  readonly path?: string;
  /** Default: the client's. */
  readonly timeoutMs?: number;
  /** Besides the client's own, which count where both have one. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A good answer. */
export interface JsonAnswer {
  readonly status: number;
  /** Empty where the service did not say. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Sends JSON objects to a service by POST and reads JSON objects of it, over connections that stay open. No redirects are
 * followed, no proxies of the environment used. A 429 or 5xx that says when to come again (Retry-After) is tried again then, as often
 * as ten times in the time that one attempt has; with `retryMs`, resets, time-outs and any 429 and 5xx are attempted again.
 */
export class JsonClient implements Disposable {
  readonly #request: typeof requestSecure;
  readonly #place: ReturnType<typeof urlToHttpOptions>;
  readonly #headers: Readonly<Record<string, string>>;
  /** Where credentials come from that do not stay the same. */
  readonly #source: CredentialSource | undefined;
  #agent: http.Agent;
  /** The certificate that its connections show. */
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

  /** Rejects with a WebhookError, also for an answer that is no JSON object. */
  async post(body: object): Promise<Readonly<Record<string, unknown>>> {
    return objectOf((await this.deliver(JSON.stringify(body))).toString('utf8'));
  }

  /** Sends JSON; the body of the answer. Rejects with a WebhookError after the last attempt. */
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

  /** One attempt; the body of a good answer. Rejects with a WebhookError, or with what `endpoint` throws. */
  async send(method: 'GET' | 'POST', body: string | undefined, request: JsonRequest = {}): Promise<Buffer> {
    return (await this.exchange(method, body, request)).bytes;
  }

  /** As `send`, with what the head of the answer says. */
  async exchange(method: 'GET' | 'POST', body: string | undefined, request: JsonRequest = {}): Promise<JsonAnswer> {
    const response = await this.#answer(method, body, request);
    const bytes = await this.#wholeOf(response);
    const { statusCode: status = 0, headers } = response;
    if (!isGood(response)) throw new WebhookError(`the service answered ${status}`, status === 429 || status >= 500, status, bytes);
    return { status, contentType: headers['content-type'] ?? '', bytes };
  }

  /**
   * GETs an answer that goes on, such as a watch: its JSON objects, one a line, until it ends. Throws a WebhookError where it fails, also
   * when the client's time is up or the signal aborts.
   */
  async *follow(signal: AbortSignal): AsyncIterable<Readonly<Record<string, unknown>>> {
    const { maxAnswerBytes = defaultAnswerBytes } = this.options;
    const response = await this.#answer('GET', undefined, {}, signal);
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

  /** The head of an answer. Credentials that do not stay the same are asked for first, and again after they were refused. */
  async #answer(
    method: 'GET' | 'POST',
    body: string | undefined,
    request: JsonRequest,
    signal?: AbortSignal,
  ): Promise<http.IncomingMessage> {
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

  async #attempt(method: 'GET' | 'POST', body: string | undefined, request: JsonRequest, over: AbortSignal): Promise<http.IncomingMessage> {
    if (!this.#source) return this.#exchange(method, body, request, over);
    const credential = await this.#credential(this.#source, over);
    const { token } = credential;
    const headers = { ...request.headers, ...(token !== '' && { authorization: `Bearer ${token}` }) };
    const response = await this.#exchange(method, body, { ...request, headers }, over);
    if (response.statusCode === 401) this.#source.refused(credential).catch(() => {});
    return response;
  }

  /** Connections that showed another certificate end. */
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

  #exchange(
    method: 'GET' | 'POST',
    body: string | undefined,
    { path, headers }: JsonRequest,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const place = this.options.endpoint?.();
      const request = this.#request({
        ...this.#place,
        ...(place && { hostname: place.host, port: place.port }),
        ...(path !== undefined && { path }),
        method,
        agent: this.#agent,
        headers:
          body === undefined
            ? { ...headers, ...this.#headers }
            : { ...headers, ...this.#headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal,
      });
      request.on('error', (error) => reject(failure(error)));
      request.on('response', resolve);
      request.end(body);
    });
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
 * The file of a token, or the program that knows the credentials, which is asked only where nothing else says who asks; undefined where
 * what the connection says stays. Upstream: client-go/transport/round_trippers.go, plugin/pkg/client/auth/exec (UpdateTransportConfig).
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

/** What is promised, unless the signal comes first. */
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

/** After how many seconds the service wants the request again; undefined where it does not say. */
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
    throw new WebhookError('the answer is no JSON', false);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WebhookError('the answer is no JSON object', false);
  return value as Readonly<Record<string, unknown>>;
}
