import type { Agent } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { agentOf, dialErrorText, newGenericServerResponse, readAnswer, type ServiceResolver, StatusError, statusOf } from 'kubenest/sdk';
import type { WebhookCredentials } from './credentials.ts';
import type { ClientConfig } from './webhook-types.ts';

/** An answer may have so many bytes. */
const maxAnswerBytes = 3 * 1024 * 1024;
const userAgent = 'kube-apiserver-admission';
/** Of webhooks that say nothing. Upstream: util/webhook/authentication.go. */
const longestMs = 30_000;
const maxAgents = 200;

/** A request that got no good answer. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

interface Target {
  /** As messages tell it. */
  readonly origin: string;
  readonly path: string;
  readonly hostHeader: string;
  readonly serverName: string;
  /** Whose credentials are used: `host:port`. */
  readonly credentialsFor: string;
  readonly egress: 'cluster' | 'controlplane';
  connectTo(): { readonly host: string; readonly port: number };
}

/**
 * Asks webhooks: HTTPS with the authorities of their configuration and the client's credentials of the admission
 * configuration, over connections that stay open. No redirects, no proxies of the environment; an answer has a bounded size.
 * Upstream: apiserver/pkg/util/webhook/client.go.
 */
export class WebhookClient implements Disposable {
  readonly #agents = new Map<string, Agent>();

  constructor(
    readonly resolver: ServiceResolver,
    readonly credentials: WebhookCredentials,
  ) {}

  /** POSTs JSON; the parsed object of a good answer. Rejects with a RequestError. */
  async post(config: ClientConfig, body: string, timeoutMs: number): Promise<Readonly<Record<string, unknown>>> {
    const target = this.#targetOf(config);
    const limit = Math.min(timeoutMs, longestMs);
    const path = `${target.path}${target.path.includes('?') ? '&' : '?'}timeout=${Math.ceil(limit / 1_000)}s`;
    const { status, bytes } = await this.#send(target, config.caBundle, path, body, limit);
    const answer = objectOf(bytes);
    if (status < 200 || status > 206) throw refusal(status, answer);
    if (!answer) throw new RequestError('the answer is no JSON object', 500);
    if (typeof answer['kind'] !== 'string' || answer['kind'] === '') throw new RequestError("Object 'Kind' is missing in the answer", 500);
    return answer;
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #targetOf({ service, url }: ClientConfig): Target {
    if (service) {
      const { namespace, name, path = '/', port = 443 } = service;
      const serverName = `${name}.${namespace}.svc`;
      return {
        origin: `https://${serverName}:${port}`,
        path: path.startsWith('/') ? path : `/${path}`,
        hostHeader: `${serverName}:${port}`,
        serverName,
        credentialsFor: `${serverName}:${port}`,
        egress: 'cluster',
        connectTo: () => this.resolver.resolve(namespace, name, port),
      };
    }
    if (!url || !URL.canParse(url)) throw new RequestError('webhook configuration must have either service or URL', 500);
    const { protocol, host, hostname, port, pathname, search } = new URL(url);
    if (protocol !== 'https:') throw new RequestError(`unsupported protocol scheme ${JSON.stringify(protocol.slice(0, -1))}`, 500);
    const plain = hostname.replace(/^\[|\]$/g, '');
    const number = port === '' ? 443 : Number(port);
    return {
      origin: `https://${host}`,
      path: pathname + search,
      hostHeader: host,
      serverName: plain,
      credentialsFor: `${hostname}:${number}`,
      egress: 'controlplane',
      connectTo: () => ({ host: plain, port: number }),
    };
  }

  #send(
    target: Target,
    caBundle: string | undefined,
    path: string,
    body: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly bytes: Buffer }> {
    const failed = (error: unknown): RequestError => {
      const isLate = (error as Error).name === 'TimeoutError' || (error as Error).name === 'AbortError';
      const text = isLate ? 'context deadline exceeded' : errorText(error);
      return new RequestError(`Post ${JSON.stringify(target.origin + path)}: ${text}`, statusOf(error)?.code ?? 503);
    };
    return new Promise((resolve, reject) => {
      let request: ReturnType<typeof https.request>;
      try {
        const { host, port } = target.connectTo();
        const { authorization } = this.credentials.for(target.credentialsFor);
        request = https.request({
          method: 'POST',
          host,
          port,
          path,
          servername: isIP(target.serverName) === 0 ? target.serverName : '',
          agent: this.#agentFor(target, caBundle),
          headers: {
            host: target.hostHeader,
            accept: 'application/json, */*',
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'user-agent': userAgent,
            ...(authorization !== undefined && { authorization }),
          },
          signal: AbortSignal.timeout(timeoutMs),
        });
      } catch (error) {
        reject(failed(error));
        return;
      }
      request.on('error', (error) => reject(failed(error)));
      request.on('response', (response) => {
        readAnswer(response, maxAnswerBytes).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, bytes }),
          (error: unknown) => reject(failed(error)),
        );
      });
      request.end(body);
    });
  }

  /** One for each server's name, authorities and client certificate: a change of the configuration makes a new one. */
  #agentFor({ serverName, credentialsFor, egress }: Target, caBundle = ''): Agent {
    const key = `${egress}|${serverName}|${credentialsFor}|${caBundle}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      if (this.#agents.size >= maxAgents) this.#forgetOldest();
      const { certificate } = this.credentials.for(credentialsFor);
      agent = agentOf(this.resolver.egress?.dial(egress), true, {
        keepAlive: true,
        minVersion: 'TLSv1.2',
        ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64').toString('utf8') }),
        ...(certificate && { cert: certificate.cert, key: certificate.key }),
        // An address has no name to send; the certificate is checked against it all the same.
        ...(isIP(serverName) !== 0 && { host: serverName }),
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }

  #forgetOldest(): void {
    const [key, agent] = this.#agents.entries().next().value as [string, Agent];
    this.#agents.delete(key);
    agent.destroy();
  }
}

const certificateTexts: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};

/** What Go says of a connection that failed. */
function errorText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const certificate = Object.hasOwn(certificateTexts, code) ? certificateTexts[code] : undefined;
  if (certificate) return `tls: failed to verify certificate: ${certificate}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: x509: ${message}`;
  return dialErrorText(error);
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A Status is told as it is; what else was answered is not repeated: it may be anything. */
function refusal(code: number, answer: Readonly<Record<string, unknown>> | undefined): RequestError {
  const status = answer && answer['kind'] === 'Status' && typeof answer['message'] === 'string' ? answer['message'] : undefined;
  const error = newGenericServerResponse(code, 'POST', undefined, '', 'unknown', 0, true);
  return new RequestError(status ?? (error instanceof StatusError ? error.message : String(error)), code);
}
