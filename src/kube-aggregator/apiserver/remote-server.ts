import type { Buffer } from 'node:buffer';
import type { Agent } from 'node:http';
import https from 'node:https';
import type { UserInfo } from '#apiserver/request/user-info';
import { dialErrorText, isCertificateError, untrusted } from '#apiserver/endpoints/handlers/dial-error';
import type { ProxyLocation } from '#apiserver/endpoints/handlers/proxy';
import { answerOf, headLimits } from '#apiserver/network/answer-of';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import { addressOf, type Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Endpoint } from '#apiserver/network/endpoint';
import { readAnswer } from '#apiserver/network/webhook/read-answer';
import { authProxyHeaders } from './auth-proxy-headers.ts';
import { certificateProblem, shownCertificates } from './certificate-problem.ts';

/** Client certificate of this server for those to which it proxies, in PEM. */
export interface ProxyClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface RemoteServerOptions {
  /** Returns the endpoint of the server. Throws an Error with the reason if there is none. */
  resolve(): Endpoint;
  readonly tls: NonNullable<ProxyLocation['tls']>;
  /** Dialer of connections; undefined: connect directly. */
  readonly dial: Dial | undefined;
  /** True if proxied requests do not name the UID of the user. */
  readonly omitsUid?: boolean;
  /** Headers of each request, besides those of the user. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
}

export interface RemoteRequest {
  readonly user: UserInfo;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Maximum size of discovery and OpenAPI documents. */
const maxAnswerBytes = 16 * 1024 * 1024;
const certificateTimeoutMs = 5_000;

/** A server that trusts this one to authenticate its users, and its persistent connections. */
export class RemoteServer implements Disposable {
  readonly #agent: Agent;

  constructor(private readonly remote: RemoteServerOptions) {
    this.#agent = agentOf(remote.dial, true, { keepAlive: true, minVersion: 'TLSv1.2' });
  }

  /** Returns the endpoint of the server. Throws an Error with the reason if there is none. */
  resolve(): Endpoint {
    return this.remote.resolve();
  }

  /** Returns the target of a proxied request. `path` is escaped; `query` has no question mark. Throws like `resolve`. */
  location(path: string, query: string, user: UserInfo): ProxyLocation {
    const endpoint = this.resolve();
    const host = addressOf(endpoint);
    const { tls, dial, omitsUid, headers: own } = this.remote;
    const { uid: _, ...withoutUid } = user;
    const headers = {
      host,
      'x-forwarded-host': host,
      'x-forwarded-proto': 'https',
      ...authProxyHeaders(omitsUid ? withoutUid : user),
      ...own,
    };
    return { secure: true, ...endpoint, path, query, tls, agent: this.#agent, dial, headers };
  }

  /** Sends a request of the aggregator itself. Redirects are not followed. Rejects with an Error that has Go's text. */
  async get(path: string, { user, headers, timeoutMs }: RemoteRequest, endpoint: Endpoint = this.resolve()): Promise<RemoteAnswer> {
    const { host, port } = endpoint;
    const request = https.get({
      host,
      port,
      path,
      agent: this.#agent,
      ...headLimits,
      ...this.remote.tls,
      headers: { host: addressOf(endpoint), ...headers, ...authProxyHeaders(user), ...this.remote.headers },
      signal: AbortSignal.timeout(timeoutMs),
    });
    try {
      const { response } = await answerOf(request);
      const body = await readAnswer(response, maxAnswerBytes);
      const { 'content-type': contentType = '', etag = '' } = response.headers;
      return { status: response.statusCode ?? 0, contentType, etag, body };
    } catch (error) {
      throw new Error(`Get "${urlOf(endpoint, path)}": ${await this.#errorText(error as Error, endpoint)}`, { cause: error });
    }
  }

  /** Returns Go's text for a connection error. Node's certificate errors have fewer details, so the chain is fetched and verified again. */
  async #errorText(error: Error, { host, port }: Endpoint): Promise<string> {
    const { dial, tls } = this.remote;
    const { servername, ca } = tls;
    if (!isCertificateError(error) || servername === undefined) return requestErrorText(error);
    const chain = await shownCertificates({ host, port, servername, dial, timeoutMs: certificateTimeoutMs });
    const problem = certificateProblem({ chain, name: servername, authorities: String(ca ?? ''), now: new Date() });
    return problem === undefined ? requestErrorText(error) : untrusted(problem);
  }

  /** Closes idle connections; others close after their current request. */
  retire(): void {
    Object.assign(this.#agent, { keepAlive: false });
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** Formats the URL like upstream. */
export function urlOf(endpoint: Endpoint, path: string): string {
  return `https://${addressOf(endpoint)}${path}`;
}

function requestErrorText(error: Error): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  return dialErrorText(error);
}
