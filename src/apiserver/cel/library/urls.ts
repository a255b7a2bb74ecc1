/** URLs as Go's net/url reads them. Upstream: apiserver/pkg/cel/library/urls.go, Go's package net/url. */
import { quote } from '#apimachinery/runtime/quote';
import { func, type FunctionDeclaration, global, member, type Overload } from '../check/declarations.ts';
import { boolType, listType, mapType, stringType, structType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { CelError, type CelObject, noSuchOverload, type Value, ValueList, ValueMap } from '../runtime/values.ts';

const urlType = structType('kubernetes.URL');

/** An absolute URL, or an absolute path. */
export class Url implements CelObject {
  readonly celType = urlType;

  constructor(
    readonly text: string,
    readonly scheme: string,
    readonly host: string,
    readonly path: string,
    readonly query: string,
  ) {}

  equals(other: Value): Value {
    return other instanceof Url ? other.text === this.text : noSuchOverload();
  }

  get hostname(): string {
    const colon = this.host.lastIndexOf(':');
    const bare = colon > this.host.lastIndexOf(']') ? this.host.slice(0, colon) : this.host;
    return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare;
  }

  get port(): string {
    const colon = this.host.lastIndexOf(':');
    return colon > this.host.lastIndexOf(']') ? this.host.slice(colon + 1) : '';
  }
}

/** Why a text is no URL, without Go's `parse "…": ` before it. */
type Reason = string;

/** Parses what may stand in the first line of a request: an absolute URI or an absolute path. Upstream: url.ParseRequestURI, then url.Parse. */
export function parseRequestUri(text: string): Url | Reason {
  const hash = text.indexOf('#');
  const url = parse(text) ?? 'invalid URI for request';
  if (typeof url === 'string' || hash < 0) return url;
  return parse(text.slice(0, hash)) ?? 'invalid URI for request';
}

function parse(text: string): Url | Reason | undefined {
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  if (text === '*') return new Url(text, '', '', '*', '');
  const scheme = splitScheme(text);
  if (typeof scheme === 'string') return scheme;
  const [beforeQuery, query] = splitAt(scheme.rest, '?');
  if (!beforeQuery.startsWith('/')) {
    // `mailto:someone` is opaque; without a scheme it is nothing.
    return scheme.name === '' ? undefined : new Url(text, scheme.name, '', '', query);
  }
  if (scheme.name !== '' && !beforeQuery.startsWith('///') && beforeQuery.startsWith('//')) {
    const [authority, path] = splitBefore(beforeQuery.slice(2), '/');
    const host = parseAuthority(authority);
    if (typeof host === 'string') return host;
    return checkEscapes(path) ?? new Url(text, scheme.name, host.host, path, query);
  }
  const path = scheme.name !== '' && beforeQuery.startsWith('///') ? beforeQuery.slice(2) : beforeQuery;
  return checkEscapes(path) ?? new Url(text, scheme.name, '', path, query);
}

function splitScheme(text: string): { name: string; rest: string } | Reason {
  const match = /^([^:/?#]*):/.exec(text);
  if (!match) return { name: '', rest: text };
  if (match[1] === '') return 'missing protocol scheme';
  if (/^[A-Za-z][A-Za-z0-9+.-]*$/.test(match[1]!)) return { name: match[1]!.toLowerCase(), rest: text.slice(match[0].length) };
  if (/^[0-9+.-]/.test(match[1]!)) return 'first path segment in URL cannot contain colon';
  return { name: '', rest: text };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function splitBefore(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

function parseAuthority(authority: string): { host: string } | Reason {
  const at = authority.lastIndexOf('@');
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return 'net/url: invalid userinfo';
  const host = authority.slice(at + 1);
  const closing = host.lastIndexOf(']');
  if (host.startsWith('[') && closing < 0) return "missing ']' in host";
  const port = host.startsWith('[') ? host.slice(closing + 1) : host.includes(':') ? host.slice(host.lastIndexOf(':')) : '';
  if (port !== '' && !/^:[0-9]*$/.test(port)) return `invalid port ${quote(port)} after host`;
  const wrong = /[ "<>\\^`{|}#]/.exec(host);
  if (wrong) return `invalid character ${quote(wrong[0])} in host name`;
  return checkEscapes(host) ?? { host };
}

function checkEscapes(text: string): Reason | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2})/.exec(text);
  return wrong ? `invalid URL escape ${quote(text.slice(wrong.index, wrong.index + 3))}` : undefined;
}

/** The path as Go's EscapedPath writes it: as it stands if that is a valid encoding. */
function escapedPath({ path }: Url): string {
  if (/^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(path)) return path;
  const bytes = Buffer.from(path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
  return [...bytes]
    .map((byte) => (/[A-Za-z0-9\-_.~$&+,/:;=@]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escapeByte(byte)))
    .join('');
}

function escapeByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

function unescapeQuery(text: string): string | undefined {
  if (checkEscapes(text)) return undefined;
  const bytes = text.replaceAll('+', ' ').split(/(%[0-9A-Fa-f]{2})/);
  return Buffer.concat(bytes.map((part, index) => (index % 2 === 1 ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)))).toString();
}

/** Values by key; what cannot be read is left out. */
function query({ query: text }: Url): ValueMap {
  const values = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key, value] = splitAt(pair, '=').map(unescapeQuery);
    if (key === undefined || value === undefined) continue;
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return ValueMap.of([...values].map(([key, list]) => [key, new ValueList(list)] as const));
}

function toUrl(text: string): Value {
  const url = parseRequestUri(text);
  return typeof url === 'string' ? new CelError(`URL parse error during conversion from string: parse ${quote(text)}: ${url}`) : url;
}

function getter(id: string, read: (url: Url) => string): Overload {
  return member(id, [urlType], stringType, read);
}

const functions: readonly FunctionDeclaration[] = [
  func('url', global('string_to_url', [stringType], urlType, toUrl)),
  func(
    'getScheme',
    getter('url_get_scheme', ({ scheme }) => scheme),
  ),
  func(
    'getHost',
    getter('url_get_host', ({ host }) => host),
  ),
  func(
    'getHostname',
    getter('url_get_hostname', ({ hostname }) => hostname),
  ),
  func(
    'getPort',
    getter('url_get_port', ({ port }) => port),
  ),
  func('getEscapedPath', getter('url_get_escaped_path', escapedPath)),
  func('getQuery', member('url_get_query', [urlType], mapType(stringType, listType(stringType)), query)),
  func(
    'isURL',
    global('is_url_string', [stringType], boolType, (text: string) => typeof parseRequestUri(text) !== 'string'),
  ),
];

export const urlsLibrary: Library = { functions, types: [urlType] };
