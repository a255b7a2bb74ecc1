import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { startProxy } from './proxy.ts';

it('forwards all bytes in order while the delay changes, and disconnects when cut', async () => {
  let received = '';
  const target = createServer((socket) => void socket.on('error', () => {}).on('data', (data) => (received += data.toString())));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const proxy = await startProxy((target.address() as AddressInfo).port);
  const client = connect(proxy.port, '127.0.0.1');
  await once(client, 'connect');
  let sent = '';
  for (let i = 0; i < 40; i++) {
    proxy.delayMs = i % 4 === 0 ? 30 : i % 4 === 1 ? 5 : 0;
    client.write(`${i},`);
    sent += `${i},`;
    await sleep(2);
  }
  await vi.waitUntil(() => received.length >= sent.length, { interval: 5 });
  expect(received).toBe(sent);
  proxy.cut();
  await once(client, 'close');
  await proxy[Symbol.asyncDispose]();
  target.close();
});
