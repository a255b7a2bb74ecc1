import type { IncomingHttpHeaders } from 'node:http';
import { parseContentLength } from '#apiserver/request/content-length';
import { isValidHost } from '../request-target.ts';
import { entryOverhead } from './header-decoder.ts';
import { ofConnection } from './protocol.ts';

/** Valid field names are lower case: RFC 9113, 8.2.1. */
const validName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/**
 * A valid path starts with a slash or is `*`, without spaces, control characters (RFC 9113, 8.3.1) or, before the query, malformed
 * escapes (RFC 3986, 2.1).
 */
const validPath = /^(?:\/(?:[^\0-\x20\x7f%?]|%[\dA-Fa-f]{2})*(?:\?[^\0-\x20\x7f]*)?|\*)$/;
const pseudo = new Set([':method', ':scheme', ':authority', ':path']);
const neverTrailers = [...pseudo, 'content-length', 'host'];
/** Fields of which only the first is used, as in node:http. */
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

/** Head or trailers of a request, built field by field as they are decoded. */
export class RequestHead {
  readonly rawHeaders: string[] = [];
  readonly headers: IncomingHttpHeaders = {};
  /** Reason for which the head is malformed: RFC 9113, 8.1.1. */
  malformed: string | undefined;
  /** Length of the request's body; undefined if it is known only at its end. Set when the head is complete. */
  bodyLength: number | undefined;
  /** True if the head exceeds the limit; further fields are dropped. */
  isTooLarge = false;
  #bytes = 0;
  #hasRegular = false;
  readonly #maxBytes: number;

  /** `maxBytes` limits the size as defined by SETTINGS_MAX_HEADER_LIST_SIZE. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  readonly add = (name: string, value: string, isValid: boolean): void => {
    this.#bytes += name.length + value.length + entryOverhead;
    if (this.#bytes > this.#maxBytes) this.isTooLarge = true;
    if (this.isTooLarge || this.malformed !== undefined) return;
    if (!isValid) return this.#refuse(`the value of ${name} contains an invalid character`);
    const { headers } = this;
    // A name of an inherited property, such as `constructor`, has no earlier value.
    const inherited = headers[name];
    const before = typeof inherited === 'string' ? inherited : undefined;
    if (name.startsWith(':')) {
      if (!pseudo.has(name)) return this.#refuse(`unknown pseudo-header field ${name}`);
      if (this.#hasRegular) return this.#refuse(`${name} comes behind other fields`);
      if (before !== undefined) return this.#refuse(`${name} comes twice`);
      headers[name] = value;
    } else {
      this.#hasRegular = true;
      if (!isValidName(name)) return this.#refuse('a field name contains an invalid character');
      if (ofConnection.has(name)) return this.#refuse(`${name} is of HTTP/1.1`);
      if (name === 'te' && value !== 'trailers') return this.#refuse('te must be trailers');
      if (name === 'set-cookie') headers[name] = [...(headers[name] ?? []), value];
      else if (before === undefined) headers[name] = value;
      else if (name === 'content-length' || name === 'host') return this.#refuse(`${name} comes twice`);
      else if (!single.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
    }
    this.rawHeaders.push(name, value);
  };

  /** Completes the head: RFC 9113, 8.3.1. `endsStream` is true if the request has no body. */
  end(endsStream: boolean): void {
    if (this.isTooLarge || this.malformed !== undefined) return;
    const { ':method': method, ':scheme': scheme, ':path': path } = this.headers;
    if (!method || !isToken(method as string)) return this.#refuse('missing or invalid :method');
    if (method === 'CONNECT') return this.#refuse('CONNECT is not supported');
    if (scheme !== 'https' && scheme !== 'http') return this.#refuse('missing or invalid :scheme');
    if (!path || !validPath.test(path as string)) return this.#refuse('missing or invalid :path');
    this.#checkHost();
    if (this.malformed !== undefined) return;
    this.#endLength(endsStream);
  }

  /** Completes trailers, which have no pseudo-header fields (RFC 9113, 8.1) and no framing fields (RFC 9110, 6.5.1). */
  endTrailers(): void {
    for (const name of neverTrailers) if (this.headers[name] !== undefined) return this.#refuse(`${name} is no trailer`);
  }

  /** Checks that the authority has no user information and that Host equals it: RFC 9113, 8.3.1. */
  #checkHost(): void {
    const { ':authority': authority, host } = this.headers;
    if (authority !== undefined && !isValidHost(authority as string)) return this.#refuse(':authority is malformed');
    if (host === undefined) return;
    if (!isValidHost(host)) return this.#refuse('host is malformed');
    if (authority && host.toLowerCase() !== (authority as string).toLowerCase()) this.#refuse('host differs from :authority');
  }

  /** Determines the body length: RFC 9113, 8.1.1. A request with another length, or without a body, is malformed. */
  #endLength(endsStream: boolean): void {
    const sent = this.headers['content-length'];
    const length = sent === undefined ? undefined : parseContentLength(sent);
    if (sent !== undefined && length === undefined) return this.#refuse('invalid content-length');
    if (endsStream && length) return this.#refuse('content-length without a body');
    this.bodyLength = endsStream ? 0 : length;
  }

  #refuse(reason: string): void {
    this.malformed = reason;
  }
}

function isToken(text: string): boolean {
  return isValidName(text.toLowerCase());
}
