import { Buffer } from 'node:buffer';
import { afterEach, expect, it, vi } from 'vitest';
import { inSteps } from '#apimachinery/runtime/steps';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import type { RemoteAnswer } from '../apiserver/remote-server.ts';
import { OpenApiController } from './openapi-controller.ts';

const path = 'apis/a.io/v1';
const document = { openapi: '3.0.0', info: { title: 'a' }, paths: { '/apis/a.io/v1/': {} }, components: {} };
const indexOf = (hash: string, at = path) => ({ paths: { [at]: { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` } } });

/** Serves answers by path; other paths are 404. */
class FakeServer {
  readonly asked: string[] = [];
  answers: Record<string, unknown> = {};

  get(asked: string): Promise<RemoteAnswer> {
    this.asked.push(asked);
    const answer = this.answers[asked];
    const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer ?? null));
    return Promise.resolve({ status: answer === undefined ? 404 : 200, contentType: 'application/json', etag: '', body });
  }
}

const stack = new DisposableStack();
afterEach(() => stack.dispose());

it('fetches a document once per hash, and drops it when it is removed', async () => {
  const server = new FakeServer();
  const changes: object[] = [];
  const errors: unknown[] = [];
  const controller = stack.use(
    new OpenApiController({
      onChange: (documents) => {
        const built = [...documents].map(async ([at, build]) => [at, await inSteps(build())]);
        void Promise.all(built).then((change) => changes.push(change));
      },
      onError: (error) => errors.push(error),
    }),
  );
  const look = async (answers: Record<string, unknown>): Promise<void> => {
    server.asked.length = 0;
    server.answers = answers;
    controller.set('v1.a.io', {
      path,
      group: 'a.io',
      groupPriorityMinimum: 1,
      server: server as Pick<ExtensionServer, 'get'> as ExtensionServer,
    });
    await vi.waitFor(() => expect(server.asked).toContain('/openapi/v3'));
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const one = { '/openapi/v3': indexOf('1'), [`/openapi/v3/${path}?hash=1`]: document };
  await look(one);
  expect(changes).toEqual([[[path, document]]]);
  await look(one);
  expect(server.asked).toEqual(['/openapi/v3']);
  expect(changes).toHaveLength(1);
  // A document that takes seconds to process is not used.
  const large = { ...document, 'x-list': Array.from({ length: 200_000 }, () => 0) };
  await look({ '/openapi/v3': indexOf('2'), [`/openapi/v3/${path}?hash=2`]: large });
  expect(changes).toHaveLength(1);
  await look({ '/openapi/v3': indexOf('1', 'apis/b.io/v1') });
  expect(changes.slice(1)).toEqual([[]]);
  await look({
    '/openapi/v3': indexOf('2'),
    [`/openapi/v3/${path}?hash=2`]: { ...document, paths: { '/x': { get: { responses: null } } } },
  });
  expect(changes).toHaveLength(2);
  expect(errors).toHaveLength(1);
});

it('orders documents by their groups', async () => {
  const orders: string[][] = [];
  using controller = new OpenApiController({
    onChange: (documents) => void orders.push([...documents.keys()]),
    onError: (error) => expect.unreachable(String(error)),
  });
  for (const [group, groupPriorityMinimum] of [
    ['b.io', 1],
    ['c.io', 2],
    ['a.io', 1],
  ] as const) {
    const at = `apis/${group}/v1`;
    const server = new FakeServer();
    server.answers = { '/openapi/v3': { paths: { [at]: { serverRelativeURL: '/openapi/v3/x' } } }, '/openapi/v3/x': document };
    controller.set(`v1.${group}`, {
      path: at,
      group,
      groupPriorityMinimum,
      server: server as Pick<ExtensionServer, 'get'> as ExtensionServer,
    });
  }
  await vi.waitFor(() => expect(orders.at(-1)).toEqual(['apis/c.io/v1', 'apis/a.io/v1', 'apis/b.io/v1']));
});
