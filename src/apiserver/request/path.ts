import { posix } from 'node:path';

/**
 * Decodes the percent escapes of a request path as Go's net/url does; invalid UTF-8 becomes U+FFFD. Returns undefined if an escape
 * is malformed.
 */
export function decodePath(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  if (/%(?![0-9a-f]{2})/i.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw);
  } catch {
    const octets = Buffer.from(raw, 'utf8')
      .toString('latin1')
      .replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    return Buffer.from(octets, 'latin1').toString('utf8');
  }
}

/** Escapes a path as Go's net/url does (EscapedPath): `$&+,/:;=@` stay unescaped. */
export function escapePath(path: string): string {
  return encodeURIComponent(path.toWellFormed())
    .replace(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Joins paths, resolves `.`, `..` and repeated slashes, and keeps a trailing slash of the last path. Upstream:
 * apimachinery/pkg/util/net/http.go (JoinPreservingTrailingSlash).
 */
export function joinPath(...paths: readonly string[]): string {
  const given = paths.filter((path) => path !== '');
  return given.length === 0 ? '' : posix.join(...given);
}
