import type { Exchange } from '#apiserver/request/exchange';

const standardPrefix = 'x-remote-';
const webSocketToken = /(^|,)\s*base64url\.bearer\.authorization\.k8s\.io\.[^,]*/g;

/**
 * Headers that state an identity. They are removed after authentication; `X-Remote-…` are removed even if no front proxy is
 * trusted. Upstream: apiserver/pkg/endpoints/filters/authentication.go.
 */
export class IdentityHeaders {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  /** Codes of the first letters (lower case) of these names, which rule out most headers in one comparison. */
  readonly #initials: ReadonlySet<number>;

  /** Takes names and name prefixes in addition to the standard ones, in lower case. */
  constructor(names: readonly string[] = [], prefixes: readonly string[] = []) {
    this.#names = new Set(['authorization', ...names.filter((name) => !name.startsWith(standardPrefix))]);
    this.#prefixes = [standardPrefix, ...prefixes.filter((prefix) => !prefix.startsWith(standardPrefix))];
    this.#initials = new Set([...this.#names, ...this.#prefixes].map((name) => name.charCodeAt(0)));
  }

  remove({ headers, rawHeaders }: Pick<Exchange, 'headers' | 'rawHeaders'>): void {
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const sent = rawHeaders[at] as string;
      if (!this.#initials.has(lowerCased(sent.charCodeAt(0)))) continue;
      const name = sent.toLowerCase();
      if (this.#isIdentity(name)) delete headers[name];
    }
    const protocols = headers['sec-websocket-protocol'];
    if (protocols !== undefined) headers['sec-websocket-protocol'] = protocols.replace(webSocketToken, '').replace(/^\s*,\s*/, '');
  }

  #isIdentity(name: string): boolean {
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return this.#names.has(name);
  }
}

function lowerCased(letter: number): number {
  return letter >= 65 && letter <= 90 ? letter + 32 : letter;
}
