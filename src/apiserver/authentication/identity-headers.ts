import type { Exchange } from '#apiserver/request/exchange';

const standardPrefix = 'x-remote-';
const webSocketToken = /(^|,)\s*base64url\.bearer\.authorization\.k8s\.io\.[^,]*/g;

/**
 * The headers that say who asks. They are gone before anything behind the authentication sees the request, `X-Remote-…` even
 * where no front proxy is trusted. Upstream: apiserver/pkg/endpoints/filters/authentication.go.
 */
export class IdentityHeaders {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  /** With which letters (lower case) such names begin: most headers are told apart by their first. */
  readonly #initials: ReadonlySet<number>;

  /** Names and beginnings of names besides the standard ones, in lower case. */
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
