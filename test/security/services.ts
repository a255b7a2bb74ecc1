import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { Authority } from '#cmd/certificates/issue';

/** `text` replaces the body. */
type Answer = { readonly status?: number; readonly body: object; readonly text?: string } | undefined;

/** A JSON service for a test. `answer` can be replaced while it runs; undefined leaves a request without a response. */
export interface JsonService extends AsyncDisposable {
  readonly url: string;
  readonly requests: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
  answer: (path: string, body: Readonly<Record<string, unknown>>) => Answer;
  /** Closes existing connections; new ones are accepted. */
  closeConnections(): void;
}

export async function startJsonService(
  answer: JsonService['answer'],
  pair?: { readonly cert: string; readonly key: string },
): Promise<JsonService> {
  const requests: JsonService['requests'] = [];
  const listener: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
      requests.push({ path: request.url ?? '', body });
      const found = service.answer(request.url ?? '', body);
      if (!found) return;
      response.writeHead(found.status ?? 200, { 'content-type': 'application/json' }).end(found.text ?? JSON.stringify(found.body));
    });
  };
  const server = pair ? https.createServer(pair, listener) : http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const service: JsonService = {
    url: `${pair ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    answer,
    closeConnections: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

/** Returns a kubeconfig for a service. */
export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }],
  });
}

/** An OpenID provider that signs arbitrary claims. */
export interface OidcProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly certificateAuthority: string;
  token(claims: Readonly<Record<string, unknown>>, key?: KeyObject): Promise<string>;
  readonly requests: JsonService['requests'];
  /** Returns the text at another path; undefined: the discovery document. */
  claimsAt: (path: string) => string | undefined;
}

export async function startOidcProvider(): Promise<OidcProvider> {
  const authority = await Authority.create('oidc-test');
  const pair = await authority.issue({ commonName: 'oidc', names: ['127.0.0.1'], usages: ['server'] });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const service = await startJsonService((path) => {
    const text = provider.claimsAt(path);
    if (text !== undefined) return { body: {}, text };
    if (path === '/keys') return { body: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] } };
    return { body: { issuer: service.url, jwks_uri: `${service.url}/keys` } };
  }, pair);
  const provider: OidcProvider = {
    issuer: service.url,
    claimsAt: () => undefined,
    certificateAuthority: authority.pair.cert,
    requests: service.requests,
    token: (claims, key = privateKey) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setIssuer(service.url)
        .setIssuedAt()
        .setExpirationTime((claims['exp'] as number | undefined) ?? '5m')
        .sign(key),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
  return provider;
}
