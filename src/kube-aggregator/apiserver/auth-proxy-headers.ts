import { Buffer } from 'node:buffer';
import type { UserInfo } from '#apiserver/request/user-info';

const unescaped = /^[-!#$&'*+.^_`|~0-9A-Za-z]$/;

/**
 * What tells a server that trusts this one who asks. The keys of `extra` are escaped where no header may have them.
 * Upstream: client-go/transport/round_trippers.go (SetAuthProxyHeaders).
 */
export function authProxyHeaders({ name, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'x-remote-user': headerText(name) };
  if (uid) headers['x-remote-uid'] = headerText(uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map(headerText);
  for (const [key, values] of Object.entries(extra))
    if (values.length > 0) headers[`x-remote-extra-${escapeKey(key)}`] = values.map(headerText);
  return headers;
}

/** Headers are sent byte by byte: their text stands for the bytes of UTF-8. Line ends cannot be sent. */
function headerText(value: string): string {
  return Buffer.from(value.replace(/[\r\n\0]/g, ' '), 'utf8').toString('latin1');
}

/** `%` is escaped too, so that it can be undone. */
function escapeKey(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return unescaped.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
