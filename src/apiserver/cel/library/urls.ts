/** URLs as parsed by Go's net/url. Upstream: apiserver/pkg/cel/library/urls.go, Go's package net/url. */
import { escapeProblem, parseRequestUri, parseUrl, UrlError } from '#apimachinery/runtime/url';
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

/**
 * Parses a request target: an absolute URI or an absolute path. Throws UrlError. Upstream: url.ParseRequestURI, then
 * url.Parse.
 */
function toAbsoluteUrl(text: string): Url {
  parseRequestUri(text);
  const { scheme, host, path, query } = parseUrl(text);
  return new Url(text, scheme, host, path, query);
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the path like Go's EscapedPath: unchanged if it is a valid encoding. */
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
  if (escapeProblem(text)) return undefined;
  const bytes = text.replaceAll('+', ' ').split(/(%[0-9A-Fa-f]{2})/);
  return Buffer.concat(bytes.map((part, index) => (index % 2 === 1 ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)))).toString();
}

/** Returns the query values by key, without invalid entries. */
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
  try {
    return toAbsoluteUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return new CelError(`URL parse error during conversion from string: ${error.message}`);
    throw error;
  }
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
    global('is_url_string', [stringType], boolType, (text: string) => toUrl(text) instanceof Url),
  ),
];

export const urlsLibrary: Library = { functions, types: [urlType] };
