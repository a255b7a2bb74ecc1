import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PendingHandshakes } from './pending-handshakes.ts';

let started: Socket[];
let errors: number;
let handshakes: PendingHandshakes;
let server: Server;
beforeEach(async () => {
  started = [];
  errors = 0;
  handshakes = new PendingHandshakes(
    (socket) => {
      started.push(socket);
      socket.emit('started');
    },
    1_000,
    () => (errors += 1),
  );
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  handshakes.destroy();
  for (const socket of started) socket.destroy();
  server.close();
});

/** Returns both ends of a connection that has been added. */
async function open(): Promise<{ client: Socket; accepted: Socket }> {
  const accepting = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = await accepting;
  handshakes.add(accepted);
  return { client, accepted };
}

it('starts a connection with its first bytes, which remain readable', async () => {
  const { client, accepted } = await open();
  expect(started).toEqual([]);
  const starts = once(accepted, 'started');
  client.write('hello');
  await starts;
  expect(started).toEqual([accepted]);
  expect(String(accepted.read())).toBe('hello');
  client.destroy();
});

it('closes a connection that ends without bytes', async () => {
  const { client, accepted } = await open();
  client.end();
  await once(accepted, 'close');
  expect([started, errors]).toEqual([[], 1]);
});

it('counts a connection that is reset as an error', async () => {
  const { client, accepted } = await open();
  client.resetAndDestroy();
  await expect.poll(() => errors).toBe(1);
  expect([started, accepted.destroyed]).toEqual([[], true]);
});

it('closes a silent connection after its time', async () => {
  const { client, accepted } = await open();
  handshakes.checkDeadlines(performance.now() + 500);
  expect(accepted.destroyed).toBe(false);
  handshakes.checkDeadlines(performance.now() + 1_500);
  await Promise.all([once(accepted, 'close'), once(client, 'close')]);
  expect([started, errors]).toEqual([[], 1]);
});

it('does not extend the time of a connection by its first bytes', async () => {
  const { client, accepted } = await open();
  const opened = performance.now();
  const starts = once(accepted, 'started');
  client.write('hello');
  await starts;
  handshakes.checkDeadlines(opened + 1_000);
  expect(accepted.destroyed).toBe(true);
  await once(accepted, 'close');
  expect(errors).toBe(1);
});

it('keeps a connection whose handshake has ended', async () => {
  const { client, accepted } = await open();
  const starts = once(accepted, 'started');
  client.write('hello');
  await starts;
  handshakes.finish(accepted);
  handshakes.checkDeadlines(performance.now() + 5_000);
  handshakes.destroy();
  expect(accepted.destroyed).toBe(false);
  accepted.destroy();
  await once(accepted, 'close');
  expect(errors).toBe(0);
});

it('closes connections without errors when the server ends', async () => {
  const { accepted } = await open();
  handshakes.destroy();
  await once(accepted, 'close');
  expect(errors).toBe(0);
});

it.each(['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'])("answers %j as Go's server", async (request) => {
  const { client } = await open();
  client.write(request);
  const [answer] = (await once(client, 'data')) as [Buffer];
  client.end();
  await once(client, 'close');
  expect(String(answer)).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  expect(started).toEqual([]);
  await expect.poll(() => errors).toBe(1);
});
