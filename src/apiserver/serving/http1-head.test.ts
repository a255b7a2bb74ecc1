import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { type AcceptedHead, inspectHead, type Refusal } from './http1-head.ts';
import { originForm } from './request-target.ts';

const inspect = (...lines: readonly string[]): AcceptedHead | Refusal =>
  inspectHead(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
const host = 'Host: localhost';
const badRequest = '400 Bad Request';
const malformedHost = '400 Bad Request: malformed Host header';
const missingHost = '400 Bad Request: missing required Host header';
const unsupportedVersion = '505 HTTP Version Not Supported: unsupported protocol version';
const unsupportedCoding = '501 Not Implemented';

/** Responses of kube-apiserver. */
it.each([
  { lines: ['GET / HTTP/2.0', host], status: unsupportedVersion },
  { lines: ['GET / HTTP/3.0', host], status: unsupportedVersion },
  { lines: ['GET / HTTP/0.9', host], status: unsupportedVersion },
  { lines: ['PRI * HTTP/2.0'], status: unsupportedVersion },
  { lines: ['GET / HTTP/1.10', host], status: badRequest },
  { lines: ['GET / HTTP/1', host], status: badRequest },
  { lines: ['GET / http/1.1', host], status: badRequest },
  { lines: ['GET /'], status: badRequest },
  { lines: ['GET  / HTTP/1.1', host], status: badRequest },
  { lines: ['GET /a b HTTP/1.1', host], status: badRequest },
  { lines: ['', 'GET / HTTP/1.1', host], status: badRequest },
  { lines: ['F@O / HTTP/1.1', host], status: badRequest },
  { lines: [' / HTTP/1.1', host], status: badRequest },
  { lines: ['\x16\x03\x01'], status: badRequest },
  { lines: ['GET / HTTP/1.1'], status: missingHost },
  { lines: ['GET / HTTP/1.1', 'Host: x', 'Host: y'], status: badRequest },
  { lines: ['GET / HTTP/1.1', 'Host: x', 'hOST: x'], status: badRequest },
  { lines: ['GET / HTTP/1.1', 'Host: x y'], status: malformedHost },
  { lines: ['GET / HTTP/1.1', 'Host: x/y'], status: malformedHost },
  { lines: ['GET / HTTP/1.1', 'Host: u@y'], status: malformedHost },
  { lines: ['GET / HTTP/1.1', 'Host: \xc3\xa4'], status: malformedHost },
  { lines: ['POST / HTTP/1.1', host, 'Transfer-Encoding: identity'], status: unsupportedCoding },
  { lines: ['POST / HTTP/1.1', host, 'Transfer-Encoding: gzip, chunked'], status: unsupportedCoding },
  { lines: ['POST / HTTP/1.1', host, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], status: unsupportedCoding },
])('rejects $lines with $status', ({ lines, status }) => {
  expect(inspect(...lines)).toMatchObject({ status });
});

it.each([
  { lines: ['GET / HTTP/1.1', host] },
  { lines: ['GET / HTTP/1.0'] },
  { lines: ['GET / HTTP/1.1', 'Host:'] },
  { lines: ['GET / HTTP/1.1', 'Host: [::1]:6443'] },
  { lines: ['M-SEARCH / HTTP/1.1', host] },
  { lines: ['POST / HTTP/1.1', host, 'Transfer-Encoding: Chunked '] },
  { lines: ['GET https://other/a HTTP/1.1', host] },
])('does not change $lines', ({ lines }) => {
  expect(inspect(...lines)).toEqual({ bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`) });
});

it.each([
  { line: 'FOO /a?b HTTP/1.1', taken: 'GET / HTTP/1.1', sent: { method: 'FOO', target: '/a?b' } },
  { line: 'get /a HTTP/1.0', taken: 'GET / HTTP/1.0', sent: { method: 'get', target: '/a' } },
  { line: 'CONNECT localhost:443 HTTP/1.1', taken: 'GET / HTTP/1.1', sent: { method: 'CONNECT', target: 'localhost:443' } },
  { line: 'PUT /a HTTP/1.2', taken: 'PUT /a HTTP/1.1', sent: undefined },
])('$line is parsed as $taken', ({ line, taken, sent }) => {
  const head = inspect(line, host, 'X-A: \xe9') as AcceptedHead;
  expect(head.bytes.toString('latin1')).toBe(`${taken}\r\n${host}\r\nX-A: \xe9\r\n\r\n`);
  expect(head.sent).toEqual(sent);
});

it.each([
  ['/a?b', '/a?b'],
  ['//a/b', '//a/b'],
  ['*', '*'],
  ['https://other/a?b', '/a?b'],
  ['HTTP://u:p@other:1/a', '/a'],
  ['https:///a', '/a'],
  ['https://other', ''],
  ['https://other?b', '?b'],
  ['/a?next=https://other/b', '/a?next=https://other/b'],
])('target %s is served as path %s', (target, path) => {
  expect(originForm(target)).toBe(path);
});
