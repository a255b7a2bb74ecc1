import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SilentConnections } from './silent-connections.ts';

let started: Socket[];
let timeouts: number;
let connections: SilentConnections;
let server: Server;
beforeEach(async () => {
  started = [];
  timeouts = 0;
  connections = new SilentConnections(
    (socket) => {
      started.push(socket);
      socket.emit('started');
    },
    1_000,
    () => (timeouts += 1),
  );
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  connections.destroy();
  for (const socket of started) socket.destroy();
  server.close();
});

/** Returns both ends of a connection that has been added. */
async function open(): Promise<{ client: Socket; accepted: Socket }> {
  const accepting = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = await accepting;
  connections.add(accepted);
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
  connections.checkDeadlines(performance.now() + 5_000);
  expect([accepted.destroyed, timeouts]).toEqual([false, 0]);
  client.destroy();
});

it('closes a connection that ends without bytes', async () => {
  const { client, accepted } = await open();
  client.end();
  await once(accepted, 'close');
  expect([started, timeouts]).toEqual([[], 0]);
});

it('closes a silent connection after its time', async () => {
  const { client, accepted } = await open();
  connections.checkDeadlines(performance.now() + 500);
  expect(accepted.destroyed).toBe(false);
  connections.checkDeadlines(performance.now() + 1_500);
  await Promise.all([once(accepted, 'close'), once(client, 'close')]);
  expect([started, timeouts]).toEqual([[], 1]);
});
