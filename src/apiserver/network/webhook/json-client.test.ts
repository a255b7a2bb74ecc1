import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { JsonClient, type WebhookError } from './json-client.ts';

/** Sends requests to a service with scripted responses; the last one repeats. */
async function asked(answers: readonly ((response: ServerResponse) => void)[], timeoutMs = 5_000) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    requests += 1;
    answers[Math.min(requests, answers.length) - 1]?.(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  try {
    using client = new JsonClient({ url, insecure: false } as JsonClient['connection'], { timeoutMs, retryMs: 0 });
    const outcome = await client.post({}).catch((error: WebhookError) => ({ error: error.message, status: error.status }));
    return { outcome, requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const good = (response: ServerResponse) => response.end('{"ok":true}');
const refused = (status: number, retryAfter?: string) => (response: ServerResponse) =>
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('no');

it('retries after the Retry-After time', async () => {
  expect(await asked([refused(503, '0'), refused(429, '0'), good])).toEqual({ outcome: { ok: true }, requests: 3 });
});

it.each([
  ['Retry-After is missing', refused(503)],
  ['Retry-After is a date', refused(503, 'Fri, 31 Dec 2027 23:59:59 GMT')],
  ['the status is another', refused(404, '0')],
])('does not retry if %s', async (_, answer) => {
  expect(await asked([answer, good])).toEqual({
    outcome: { error: expect.stringContaining('the service answered'), status: expect.any(Number) },
    requests: 1,
  });
});

it('gives up after ten retries', async () => {
  expect(await asked([refused(500, '0')])).toEqual({ outcome: { error: 'the service answered 500', status: 500 }, requests: 11 });
});

it("does not wait longer than the request's timeout", async () => {
  expect(await asked([refused(503, '99999999999'), good], 100)).toEqual({
    outcome: { error: 'context deadline exceeded', status: 0 },
    requests: 1,
  });
});
