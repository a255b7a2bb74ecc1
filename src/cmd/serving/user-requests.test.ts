import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UserRequests } from './user-requests.ts';

const user = { name: 'controller', groups: [] };

type Entry = 'serve' | 'serveController';

function setUp(entry: Entry): { readonly started: Exchange[]; readonly send: (count: number, by?: Entry) => void } {
  const started: Exchange[] = [];
  const requests = new UserRequests();
  const server: Pick<GenericServer, 'serveAs'> = { serveAs: (exchange) => void started.push(exchange) };
  requests.install(server as GenericServer);
  const send = (count: number, by = entry): void => {
    for (let i = 0; i < count; i++)
      requests[by](new InProcessExchange({ method: 'GET', url: `/${i}`, headers: {}, body: undefined }), user);
  };
  return { started, send };
}

const finish = (exchange: Exchange | undefined): void => exchange?.send(200, [], undefined);

afterEach(() => void vi.useRealTimers());

describe.each<[Entry, number, number]>([
  ['serve', 2, 8],
  ['serveController', 1, 8],
])('%s', (entry, least, limit) => {
  it('starts a waiting request when another one ends, so that few of them end in one turn of the event loop', async () => {
    // No request lasts long, however busy the machine is.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { started, send } = setUp(entry);
    let ended = 0;
    let most = 0;
    send(100);
    while (ended < 100) {
      while (started.length <= ended) await nextTurn();
      most = Math.max(most, started.length - ended);
      finish(started[ended]);
      ended += 1;
    }
    expect(most).toBeGreaterThanOrEqual(least);
    expect(most).toBeLessThanOrEqual(limit);
    expect(started.map(({ url }) => url)).toEqual(Array.from({ length: 100 }, (_, i) => `/${i}`));
  });

  it('does not let requests that wait for something else delay the others for long', async () => {
    const { started, send } = setUp(entry);
    send(40);
    await vi.waitFor(() => expect(started).toHaveLength(40));
    for (const exchange of started) finish(exchange);
  });
});

it('a request of a plugin within one of a controller starts at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { started, send } = setUp('serveController');
  send(3);
  while (started.length < 1) await nextTurn();
  send(1, 'serve');
  while (started.length < 2) await nextTurn();
  await nextTurn();
  expect(started).toHaveLength(2);
  for (const exchange of started) finish(exchange);
});
