import { Buffer } from 'node:buffer';
import type { Agent } from 'node:http';
import https from 'node:https';
import type { UserInfo } from '#apiserver/request/user-info';
import { dialErrorText, isCertificateError, untrusted } from '#apiserver/endpoints/handlers/dial-error';
import type { ProxyLocation } from '#apiserver/endpoints/handlers/proxy';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import { addressOf, type Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import type { Endpoint } from '#apiserver/network/endpoint';
import { trustOptions } from '#apiserver/network/trust';
import { readAnswer } from '#apiserver/network/webhook/read-answer';
import type { APIServiceSpec } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { authProxyHeaders } from './auth-proxy-headers.ts';
import { certificateProblem, shownCertificates } from './certificate-problem.ts';

/** Client certificate of the server for extension servers, in PEM. */
export interface ProxyClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface ExtensionServerOptions {
  readonly services: ServiceResolver;
  /** Called for each new connection; undefined for connections without a client certificate. */
  clientCertificate(): ProxyClientCertificate | undefined;
}

export interface ExtensionAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
}

export interface ExtensionRequest {
  readonly user: UserInfo;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Maximum size of discovery and OpenAPI documents. */
const maxAnswerBytes = 16 * 1024 * 1024;
const defaultPort = 443;
const certificateTimeoutMs = 5_000;

/**
 * A server behind a Service, with the trust settings of one APIService, and its persistent connections. Upstream:
 * kube-aggregator/pkg/controllers/status/remote (BuildTransportConfig).
 */
export class ExtensionServer implements Disposable {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly #dial: Dial | undefined;
  readonly #agent: Agent;
  readonly #tls: NonNullable<ProxyLocation['tls']>;

  constructor(
    { service = {}, caBundle, insecureSkipTLSVerify = false }: APIServiceSpec,
    readonly options: ExtensionServerOptions,
  ) {
    this.namespace = service.namespace ?? '';
    this.name = service.name ?? '';
    this.port = service.port ?? defaultPort;
    this.#tls = {
      servername: `${this.name}.${this.namespace}.svc`,
      ...trustOptions({ ca: caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined, insecure: insecureSkipTLSVerify }),
      ...options.clientCertificate(),
    };
    this.#dial = options.services.egress?.dial('cluster');
    this.#agent = agentOf(this.#dial, true, { keepAlive: true, minVersion: 'TLSv1.2' });
  }

  /** Returns the endpoint of the service. Throws an Error with the reason if it cannot be resolved. */
  resolve(): Endpoint {
    return this.options.services.resolve(this.namespace, this.name, this.port);
  }

  /** Returns the target of a proxied request. `path` is escaped; `query` has no question mark. Throws like `resolve`. */
  location(path: string, query: string, user: UserInfo): ProxyLocation {
    const endpoint = this.resolve();
    const host = addressOf(endpoint);
    const headers = { host, 'x-forwarded-host': host, 'x-forwarded-proto': 'https', ...authProxyHeaders(user) };
    return { secure: true, ...endpoint, path, query, tls: this.#tls, agent: this.#agent, dial: this.#dial, headers };
  }

  /** Sends a request of the aggregator itself. Redirects are not followed. Rejects with an Error that has Go's text. */
  get(path: string, { user, headers, timeoutMs }: ExtensionRequest, endpoint: Endpoint = this.resolve()): Promise<ExtensionAnswer> {
    const { host, port } = endpoint;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void =>
        void this.#errorText(error, endpoint).then((text) =>
          reject(new Error(`Get "${urlOf(endpoint, path)}": ${text}`, { cause: error })),
        );
      const request = https.get(
        {
          host,
          port,
          path,
          agent: this.#agent,
          ...this.#tls,
          headers: { host: addressOf(endpoint), ...headers, ...authProxyHeaders(user) },
          signal: AbortSignal.timeout(timeoutMs),
        },
        (response) => {
          readAnswer(response, maxAnswerBytes).then(
            (body) =>
              resolve({
                status: response.statusCode ?? 0,
                contentType: response.headers['content-type'] ?? '',
                etag: response.headers.etag ?? '',
                body,
              }),
            fail,
          );
        },
      );
      request.once('error', fail);
    });
  }

  /** Returns Go's text for a connection error. Node's certificate errors have fewer details, so the chain is fetched and verified again. */
  async #errorText(error: Error, { host, port }: Endpoint): Promise<string> {
    const { servername, ca } = this.#tls;
    if (!isCertificateError(error) || servername === undefined) return requestErrorText(error);
    const chain = await shownCertificates({ host, port, servername, timeoutMs: certificateTimeoutMs });
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
