import type { IncomingHttpHeaders } from 'node:http';
import { parseContentLength } from '#apiserver/request/content-length';
import { isValidHost } from '../request-target.ts';
import { entryOverhead } from './header-decoder.ts';
import { ofConnection } from './protocol.ts';

/** Names of fields are lower case: RFC 9113, 8.2.1. */
const validName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** A path begins with a slash, or is `*`, and has no spaces, control characters (RFC 9113, 8.3.1) or malformed escapes (RFC 3986, 2.1) before its query. */
const validPath = /^(?:\/(?:[^\0-\x20\x7f%?]|%[\dA-Fa-f]{2})*(?:\?[^\0-\x20\x7f]*)?|\*)$/;
const pseudo = new Set([':method', ':scheme', ':authority', ':path']);
const neverTrailers = [...pseudo, 'content-length', 'host'];
/** A second one is ignored, as node:http does. */
const single = new Set(
  `age authorization content-type etag expires from if-modified-since if-unmodified-since last-modified location
  max-forwards proxy-authorization referer retry-after server user-agent`.split(/\s+/),
);

const knownNames = new Set<string>();
const maxKnownNames = 1000;

function isValidName(name: string): boolean {
  if (knownNames.has(name)) return true;
  if (!validName.test(name)) return false;
  if (knownNames.size < maxKnownNames) knownNames.add(name);
  return true;
}

/** The head of a request, or the trailers behind its body, field by field as they are decoded. */
export class RequestHead {
  readonly rawHeaders: string[] = [];
  readonly headers: IncomingHttpHeaders = {};
  /** What is wrong with it, if anything is: RFC 9113, 8.1.1. */
  malformed: string | undefined;
  /** What the request's body must have: undefined if only its end tells. Known once the head has ended. */
  bodyLength: number | undefined;
  /** More than may be sent. What comes behind is not kept. */
  isTooLarge = false;
  #bytes = 0;
  #hasRegular = false;
  readonly #maxBytes: number;

  /** `maxBytes`: as SETTINGS_MAX_HEADER_LIST_SIZE counts them. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  readonly add = (name: string, value: string, isValid: boolean): void => {
    this.#bytes += name.length + value.length + entryOverhead;
    if (this.#bytes > this.#maxBytes) this.isTooLarge = true;
    if (this.isTooLarge || this.malformed !== undefined) return;
    if (!isValid) return this.#refuse(`the value of ${name} has a character that may not be there`);
    const { headers } = this;
    // What every object has, as `constructor`, is no text.
    const inherited = headers[name];
    const before = typeof inherited === 'string' ? inherited : undefined;
    if (name.startsWith(':')) {
      if (!pseudo.has(name)) return this.#refuse(`there is no ${name} of requests`);
      if (this.#hasRegular) return this.#refuse(`${name} comes behind other fields`);
      if (before !== undefined) return this.#refuse(`${name} comes twice`);
      headers[name] = value;
    } else {
      this.#hasRegular = true;
      if (!isValidName(name)) return this.#refuse('the name of a field has a character that may not be there');
      if (ofConnection.has(name)) return this.#refuse(`${name} is of HTTP/1.1`);
      if (name === 'te' && value !== 'trailers') return this.#refuse('te says something else than trailers');
      if (name === 'set-cookie') headers[name] = [...(headers[name] ?? []), value];
      else if (before === undefined) headers[name] = value;
      else if (name === 'content-length' || name === 'host') return this.#refuse(`${name} comes twice`);
      else if (!single.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
    }
    this.rawHeaders.push(name, value);
  };

  /** RFC 9113, 8.3.1. To be called behind the last field of a request; `endsStream`: it has no body. */
  end(endsStream: boolean): void {
    if (this.isTooLarge || this.malformed !== undefined) return;
    const { ':method': method, ':scheme': scheme, ':path': path } = this.headers;
    if (!method || !isToken(method as string)) return this.#refuse('there is no :method');
    if (method === 'CONNECT') return this.#refuse('there is nothing to CONNECT to');
    if (scheme !== 'https' && scheme !== 'http') return this.#refuse('there is no :scheme of HTTP');
    if (!path || !validPath.test(path as string)) return this.#refuse('there is no :path');
    this.#checkHost();
    if (this.malformed !== undefined) return;
    this.#endLength(endsStream);
  }

  /** RFC 9113, 8.1: trailers have no pseudo-header fields, and nothing that would frame the body which they follow (RFC 9110, 6.5.1). */
  endTrailers(): void {
    for (const name of neverTrailers) if (this.headers[name] !== undefined) return this.#refuse(`${name} is no trailer`);
  }

  /** RFC 9113, 8.3.1: an authority without user information, and a Host field that says the same. */
  #checkHost(): void {
    const { ':authority': authority, host } = this.headers;
    if (authority !== undefined && !isValidHost(authority as string)) return this.#refuse('the authority is malformed');
    if (host === undefined) return;
    if (!isValidHost(host)) return this.#refuse('host is malformed');
    if (authority && host.toLowerCase() !== (authority as string).toLowerCase()) this.#refuse('host is another one than the authority');
  }

  /** RFC 9113, 8.1.1: a request whose length is not that of its body is malformed, also where it has no body. */
  #endLength(endsStream: boolean): void {
    const sent = this.headers['content-length'];
    const length = sent === undefined ? undefined : parseContentLength(sent);
    if (sent !== undefined && length === undefined) return this.#refuse('content-length is no length');
    if (endsStream && length) return this.#refuse('content-length announces a body that the request does not have');
    this.bodyLength = endsStream ? 0 : length;
  }

  #refuse(reason: string): void {
    this.malformed = reason;
  }
}

function isToken(text: string): boolean {
  return isValidName(text.toLowerCase());
}
