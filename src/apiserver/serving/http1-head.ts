import { Buffer } from 'node:buffer';
import { METHODS } from 'node:http';
import { isValidHost } from './request-target.ts';

/** An error response to a malformed head: status line, and the body if it differs. */
export interface Refusal {
  readonly status: string;
  readonly body?: string;
}

/** A head that node:http accepts. */
export interface AcceptedHead {
  readonly bytes: Buffer;
  /** The sent method and target if node:http receives others. */
  readonly sent?: { readonly method: string; readonly target: string };
}

/** Methods that node:http parses without special treatment. */
const parsedMethods: ReadonlySet<string> = new Set(METHODS.filter((method) => method !== 'CONNECT'));
const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const requestLine = /^([^ \r]*) ([^ \r]+) HTTP\/(\d)\.(\d)(?=\r\n)/;
const framing = /\r\n(host|transfer-encoding):([^\r]*)/gi;

export const badRequest: Refusal = { status: '400 Bad Request' };
export const headerFieldsTooLarge: Refusal = { status: '431 Request Header Fields Too Large' };

/**
 * Inspects a complete head before node:http. Rejects heads that Go's server rejects and node:http accepts, and rewrites heads that only
 * node:http rejects (unknown methods, minor versions). Upstream: net/http/request.go (readRequest), net/http/server.go.
 *
 *     GET /a HTTP/2.0            505
 *     FOO /a HTTP/1.1            GET /a HTTP/1.1, sent as FOO
 *     two Host fields            400
 */
export function inspectHead(head: Buffer): AcceptedHead | Refusal {
  const text = head.toString('latin1');
  const line = requestLine.exec(text);
  const [whole, method = '', target = '', major, minor] = line ?? [''];
  if (!line || !token.test(method)) return badRequest;
  if (major !== '1') return { status: '505 HTTP Version Not Supported: unsupported protocol version' };
  const refusal = fieldRefusal(text, minor !== '0' && method !== 'CONNECT');
  if (refusal) return refusal;
  const isKnown = parsedMethods.has(method);
  if (isKnown && (minor === '1' || minor === '0')) return { bytes: head };
  const taken = isKnown ? `${method} ${target}` : 'GET /';
  const bytes = Buffer.from(`${taken} HTTP/1.${minor === '0' ? 0 : 1}${text.slice(whole.length)}`, 'latin1');
  return isKnown ? { bytes } : { bytes, sent: { method, target } };
}

function fieldRefusal(text: string, needsHost: boolean): Refusal | undefined {
  let hosts = 0;
  let codings = 0;
  for (const [, name = '', sent = ''] of text.matchAll(framing)) {
    const value = sent.trim();
    if (name.length === 4) {
      hosts += 1;
      if (hosts > 1) return badRequest;
      if (!isValidHost(value)) return { status: '400 Bad Request: malformed Host header' };
    } else if ((codings += 1) > 1 || value.toLowerCase() !== 'chunked')
      return { status: '501 Not Implemented', body: 'Unsupported transfer encoding' };
  }
  return needsHost && hosts === 0 ? { status: '400 Bad Request: missing required Host header' } : undefined;
}

/** Returns the response to a malformed request, after which the connection closes. Upstream: net/http/server.go (errorHeaders). */
export function refusalAnswer({ status, body = status }: Refusal): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${body}`;
}
