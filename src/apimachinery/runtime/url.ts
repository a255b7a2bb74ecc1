/** URLs with the parsing of Go's package net/url, whose messages validation and CEL return. */
import { parseIPSloppy } from '../validation/ip.ts';
import { parseAddrProblem } from './netip.ts';
import { quote } from './quote.ts';

/** The parts of a URL, as written. */
export interface GoUrl {
  /** In lower case. */
  readonly scheme: string;
  /** The part before the `@`; undefined if there is none. */
  readonly user: string | undefined;
  /** Host and port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** Error for a malformed URL. `message` is Go's: `parse "…": …`. */
export class UrlError extends Error {
  constructor(
    text: string,
    readonly reason: string,
  ) {
    super(`parse ${quote(text)}: ${reason}`);
  }
}

/** Internal error of this file. */
class Wrong extends Error {}

/** Parses any URL reference, including relative ones. Throws UrlError. Upstream: url.Parse. */
export function parseUrl(text: string): GoUrl {
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  const url = attempt(hash < 0 ? text : text.slice(0, hash), false);
  const wrong = escapeProblem(fragment);
  if (wrong) throw new UrlError(text, wrong);
  return { ...url, fragment };
}

/** Parses a request URI: an absolute URI or an absolute path, without a fragment. Throws UrlError. Upstream: url.ParseRequestURI. */
export function parseRequestUri(text: string): GoUrl {
  return attempt(text, true);
}

/** True if `parseRequestUri` accepts the text. */
export function isRequestUri(text: string): boolean {
  try {
    parseRequestUri(text);
    return true;
  } catch (error) {
    if (error instanceof UrlError) return false;
    throw error;
  }
}

function attempt(text: string, viaRequest: boolean): GoUrl {
  try {
    return parse(text, viaRequest);
  } catch (error) {
    if (error instanceof Wrong) throw new UrlError(text, error.message);
    throw error;
  }
}

const bare = { scheme: '', user: undefined, host: '', path: '', query: '', fragment: '' } as const;

function parse(text: string, viaRequest: boolean): GoUrl {
  if (/[\x00-\x1f\x7f]/.test(text)) throw new Wrong('net/url: invalid control character in URL');
  if (text === '' && viaRequest) throw new Wrong('empty url');
  if (text === '*') return { ...bare, path: '*' };
  const { scheme, rest } = splitScheme(text);
  const [hierarchy, query] = splitAt(rest, '?');
  if (!hierarchy.startsWith('/')) {
    // `mailto:someone` is opaque.
    if (scheme !== '') return { ...bare, scheme, query };
    if (viaRequest) throw new Wrong('invalid URI for request');
    if (hierarchy.split('/', 1)[0]!.includes(':')) throw new Wrong('first path segment in URL cannot contain colon');
  }
  const hasAuthority = hierarchy.startsWith('//') && (scheme !== '' || (!viaRequest && !hierarchy.startsWith('///')));
  const end = hasAuthority ? hierarchy.indexOf('/', 2) : 0;
  const path = end < 0 ? '' : hierarchy.slice(end);
  const authority = hasAuthority ? parseAuthority(scheme, hierarchy.slice(2, end < 0 ? undefined : end)) : { user: undefined, host: '' };
  checkEscapes(path);
  return { ...bare, ...authority, scheme, path, query };
}

function splitScheme(text: string): { scheme: string; rest: string } {
  if (text.startsWith(':')) throw new Wrong('missing protocol scheme');
  const [found = '', name = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  return { scheme: name.toLowerCase(), rest: text.slice(found.length) };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function parseAuthority(scheme: string, authority: string): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  checkHost(scheme, host);
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new Wrong('net/url: invalid userinfo');
  checkEscapes(user);
  return { user, host };
}

function checkHost(scheme: string, host: string): void {
  const open = host.lastIndexOf('[');
  if (open > 0) throw new Wrong('invalid IP-literal');
  if (open === 0) return checkLiteral(host);
  const isWeb = scheme === 'http' || scheme === 'https';
  const colon = isWeb ? host.indexOf(':') : host.lastIndexOf(':');
  if (colon >= 0) checkPort(host.slice(colon));
  checkHostEscapes(host);
}

/** Checks `[fe80::1%25en0]:80`. Upstream: url.parseHost, with the messages of netip.ParseAddr. */
function checkLiteral(host: string): void {
  const closing = host.lastIndexOf(']');
  if (closing < 0) throw new Wrong("missing ']' in host");
  checkPort(host.slice(closing + 1));
  const name = host.slice(1, closing);
  const zone = name.indexOf('%25');
  const address = zone < 0 ? name : name.slice(0, zone);
  checkHostEscapes(address);
  if (zone >= 0) checkEscapes(name.slice(zone));
  const parsed = parseIPSloppy(address);
  if (!parsed) throw new Wrong(`invalid host: ${parseAddrProblem(name)}`);
  if (!address.includes(':')) throw new Wrong('invalid IP-literal');
}

function checkPort(port: string): void {
  if (port !== '' && !/^:[0-9]*$/.test(port)) throw new Wrong(`invalid port ${quote(port)} after host`);
}

/** Checks the escapes of a host, where only non-ASCII bytes and the percent sign may be escaped. */
function checkHostEscapes(host: string): void {
  const wrong = /%(?![89A-Fa-f][0-9A-Fa-f]|25)|[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host);
  if (!wrong) return;
  if (wrong[0] === '%') throw new Wrong(`invalid URL escape ${quote(host.slice(wrong.index, wrong.index + 3))}`);
  throw new Wrong(`invalid character ${quote(wrong[0])} in host name`);
}

function checkEscapes(text: string): void {
  const wrong = escapeProblem(text);
  if (wrong) throw new Wrong(wrong);
}

/** Returns Go's error for an invalid escape; undefined if all are valid. */
export function escapeProblem(text: string): string | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2})/.exec(text);
  return wrong ? `invalid URL escape ${quote(text.slice(wrong.index, wrong.index + 3))}` : undefined;
}
