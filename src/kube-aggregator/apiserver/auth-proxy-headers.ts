import { Buffer } from 'node:buffer';
import type { UserInfo } from '#apiserver/request/user-info';

const unescaped = /^[-!#$&'*+.^_`|~0-9A-Za-z]$/;

/**
 * Returns the headers by which an extension server learns the user. Keys of `extra` are escaped where they contain characters that header
 * names may not have. Upstream: client-go/transport/round_trippers.go (SetAuthProxyHeaders).
 */
export function authProxyHeaders({ name, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'x-remote-user': headerText(name) };
  if (uid) headers['x-remote-uid'] = headerText(uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map(headerText);
  for (const [key, values] of Object.entries(extra))
    if (values.length > 0) headers[`x-remote-extra-${escapeKey(key)}`] = values.map(headerText);
  return headers;
}

/** Encodes a text as UTF-8 bytes in a latin1 string, which Node sends as is. Line breaks are replaced, since headers cannot have them. */
function headerText(value: string): string {
  return Buffer.from(value.replace(/[\r\n\0]/g, ' '), 'utf8').toString('latin1');
}

/** Percent-encodes a key; `%` is escaped too, so that it can be decoded. */
function escapeKey(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return unescaped.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
