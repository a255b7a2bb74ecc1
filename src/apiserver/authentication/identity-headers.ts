import type { IncomingHttpHeaders } from 'node:http';

const standardPrefix = 'x-remote-';
const webSocketToken = /(^|,)\s*base64url\.bearer\.authorization\.k8s\.io\.[^,]*/g;

/**
 * The headers that say who asks. They are gone before anything behind the authentication sees the request, `X-Remote-…` even
 * where no front proxy is trusted. Upstream: apiserver/pkg/endpoints/filters/authentication.go.
 */
export class IdentityHeaders {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  /** Names and beginnings of names besides the standard ones, in lower case. */
  constructor(names: readonly string[] = [], prefixes: readonly string[] = []) {
    this.#names = new Set(['authorization', ...names.filter((name) => !name.startsWith(standardPrefix))]);
    this.#prefixes = [standardPrefix, ...prefixes.filter((prefix) => !prefix.startsWith(standardPrefix))];
  }

  remove(headers: IncomingHttpHeaders): void {
    for (const name in headers) if (this.#isIdentity(name)) delete headers[name];
    const protocols = headers['sec-websocket-protocol'];
    if (protocols !== undefined) headers['sec-websocket-protocol'] = protocols.replace(webSocketToken, '').replace(/^\s*,\s*/, '');
  }

  #isIdentity(name: string): boolean {
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return this.#names.has(name);
  }
}
