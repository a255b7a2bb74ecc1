import { Buffer } from 'node:buffer';
import { isPrint } from '#apimachinery/runtime/quote';
import type { Revision } from '../storage.ts';

/** Content of a continue token: the next key and the revision; -1 continues at the newest revision. */
export interface ContinuePoint {
  readonly from: string;
  readonly revision: Revision;
}

/**
 * Returns the token for the keys after `key`. The format is public: base64url of
 * `{"v":"meta.k8s.io/v1","rv":N,"start":"..."}`, where start is relative to the prefix. Upstream:
 * apiserver/pkg/storage/continue.go.
 */
export function encodeContinue(key: string, prefix: string, revision: Revision): string {
  if (!key.startsWith(prefix) || key === prefix) throw new Error('unable to encode next field: the key and key prefix do not match');
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: key.slice(prefix.length) });
  return Buffer.from(json.replace(/[<>&\u2028\u2029]/g, escapeCharacter), 'utf8').toString('base64url');
}

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Decodes a token. Throws an error whose message follows `invalid continue token: ` in the response. A start outside of the
 * prefix is rejected.
 */
export function decodeContinue(token: string, prefix: string): ContinuePoint {
  const { v, rv, start } = parseToken(decodeBase64(token));
  if (v !== 'meta.k8s.io/v1') throw new Error(`continue key is not valid: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw new Error('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (start === '') throw new Error('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  const key = start.startsWith('/') ? start : `/${start}`;
  if (!isClean(key)) throw new Error(`continue key is not valid: ${start}`);
  return { from: prefix + key.slice(1), revision: rv };
}

/** True if Go's path.Clean leaves the path unchanged. */
function isClean(path: string): boolean {
  return path === '/' || (!path.endsWith('/') && !/\/(\/|\.\.?(\/|$))/.test(path));
}

function decodeBase64(token: string): Buffer {
  const wrong = token.search(/[^A-Za-z0-9_-]/);
  if (wrong >= 0) throw new Error(`continue key is not valid: illegal base64 data at input byte ${wrong}`);
  if (token.length % 4 === 1) throw new Error(`continue key is not valid: illegal base64 data at input byte ${token.length - 1}`);
  return Buffer.from(token, 'base64url');
}

interface Token {
  readonly v: string;
  readonly rv: number;
  readonly start: string;
}

function parseToken(bytes: Buffer): Token {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(`continue key is not valid: ${syntaxError(bytes)}`);
  }
  if (value === null) return { v: '', rv: 0, start: '' };
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw new Error(`continue key is not valid: json: cannot unmarshal ${kind} into Go value of type storage.continueToken`);
  }
  const { v: version, rv: revision, start: from } = value as Record<string, unknown>;
  // Go leaves a field with null unset.
  const [v, rv, start] = [version ?? '', revision ?? 0, from ?? ''];
  if (typeof v !== 'string') throw fieldError(v, 'v', 'string');
  if (typeof rv !== 'number' || !Number.isInteger(rv)) throw fieldError(rv, 'rv', 'int64');
  if (typeof start !== 'string') throw fieldError(start, 'start', 'string');
  return { v, rv, start };
}

function fieldError(value: unknown, field: string, type: string): Error {
  const kind = Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'number' && type === 'int64'
        ? `number ${value}`
        : typeof value;
  return new Error(`continue key is not valid: json: cannot unmarshal ${kind} into Go struct field continueToken.${field} of type ${type}`);
}

/** Returns encoding/json's message for the most common damage: a wrong first byte or a missing end. */
function syntaxError(bytes: Buffer): string {
  const first = bytes.find((byte) => !' \t\r\n'.includes(String.fromCharCode(byte)));
  if (first === undefined || '{["0123456789-tfn'.includes(String.fromCharCode(first))) return 'unexpected end of JSON input';
  const character = String.fromCharCode(first);
  const shown = character === "'" ? `'\\''` : isPrint(character) ? `'${character}'` : `'${goEscape(first)}'`;
  return `invalid character ${shown} looking for beginning of value`;
}

/** Escapes an unprintable rune like strconv.Quote. */
function goEscape(code: number): string {
  const named: Readonly<Record<number, string>> = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r' };
  return named[code] ?? (code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`);
}
