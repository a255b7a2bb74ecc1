import { once } from 'node:events';
import { request as requestOf } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { answerOf, headLimits } from './answer-of.ts';
import { readAnswer } from './webhook/read-answer.ts';

/** Sends a request to a server that answers with `bytes`, and returns what `outcome` makes of the answer. */
async function send<T>(bytes: string, outcome: (answer: ReturnType<typeof answerOf>) => Promise<T>, mayUpgrade?: boolean): Promise<T> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(bytes));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const request = requestOf({ ...headLimits, host: '127.0.0.1', port, agent: false });
  try {
    request.end();
    return await outcome(answerOf(request, mayUpgrade));
  } finally {
    request.destroy();
    server.close();
  }
}

const failure = async (answer: Promise<unknown>): Promise<string> => {
  try {
    await answer;
    return 'a response';
  } catch (error) {
    return (error as Error).message;
  }
};

const fields = (count: number): string => Array.from({ length: count }, (_, i) => `X-${i}: y\r\n`).join('');

it.each([
  [
    'switches protocols without a request for it',
    'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    /tried to switch protocol "websocket"/,
  ],
  ['answers 101 without a protocol', 'HTTP/1.1 101 S\r\n\r\n', /101 switching protocols/],
  ['answers with the status 000', 'HTTP/1.1 000 S\r\n\r\n', /malformed HTTP status code "000"/],
  ['sends a head of 2 MiB', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(2 << 20)}\r\n\r\n`, /Header overflow/],
  ['sends 20,000 header fields', `HTTP/1.1 200 OK\r\n${fields(20_000)}\r\n`, /headers exceeded 10000 fields/],
  ['sends informational responses without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(60_000), /headers exceeded 1048576 bytes/],
])('a server that %s is an error', async (_, bytes, message) => {
  expect(await send(bytes, failure)).toMatch(message);
});

it.each([
  ['20 kB in a field', `X: ${'a'.repeat(20_000)}\r\n`],
  ['5,000 fields', fields(5_000)],
])('a response with %s is complete', async (_, head) => {
  const answer = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n${head}Content-Length: 2\r\n\r\nok`;
  const { response } = await send(answer, (answered) => answered);
  expect(response.rawHeaders).toHaveLength(2 * head.split('\r\n').length);
});

it('a requested switch of protocols is the answer', async () => {
  const head = 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nfirst';
  const { upgraded } = await send(head, (answered) => answered, true);
  expect(String(upgraded?.head)).toBe('first');
  upgraded?.socket.destroy();
});

it('chunks of one octet are read in several turns of the event loop, and as one buffer', async () => {
  const count = 300_000;
  const { body, mostOfTurn } = await send(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`,
    async (answered) => {
      const { response } = await answered;
      let [ofTurn, mostOfTurn] = [0, 0];
      response.on('data', () => {
        if (ofTurn === 0) setImmediate(() => (ofTurn = 0));
        mostOfTurn = Math.max(mostOfTurn, ++ofTurn);
      });
      return { body: await readAnswer(response, count), mostOfTurn };
    },
  );
  expect(body).toHaveLength(count);
  expect(mostOfTurn).toBeLessThan(count / 3);
});
