import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { UserClient } from './user-client.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' } as const;

it.each<{ namespace?: string; name: string; message: string }>([
  { name: '../../other/secrets/top', message: `invalid resource name "../../other/secrets/top": [may not contain '/']` },
  { name: 'a/status', message: `invalid resource name "a/status": [may not contain '/']` },
  { name: 'a%2fstatus', message: `invalid resource name "a%2fstatus": [may not contain '%']` },
  { name: '..', message: `invalid resource name "..": [may not be '..']` },
  { name: '.', message: `invalid resource name ".": [may not be '.']` },
  { name: '', message: 'resource name may not be empty' },
  { namespace: 'a/secrets/b', name: 'x', message: `invalid namespace "a/secrets/b": [may not contain '/']` },
])('sends no request for an object whose name leads elsewhere: $namespace $name', async ({ namespace = 'default', name, message }) => {
  const urls: string[] = [];
  const client = new UserClient((exchange) => void urls.push(exchange.url), { name: 'controller', groups: [] });
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name } };
  const calls: readonly (() => Promise<unknown>)[] = [
    () => client.get(secrets, namespace, name),
    () => client.update(secrets, namespace, name, () => object),
    () => client.replace(secrets, object),
    () => client.patch(secrets, namespace, name, { type: 'merge', patch: {} }),
    () => client.apply(secrets, object),
    () => client.delete(secrets, namespace, name),
    () => client.create({ ...secrets, subresource: 'token' }, object),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow(message);
  expect(urls).toEqual([]);
});

it('parses a large list in several turns of the event loop', async () => {
  const items = Array.from({ length: 40_000 }, (_, i) => ({ metadata: { name: `s${i}` }, data: { a: '1', b: '2', c: '3', d: '4' } }));
  const bytes = Buffer.from(JSON.stringify({ metadata: {}, items }));
  const client = new UserClient((exchange) => exchange.send(200, [], bytes), { name: 'c', groups: [] });
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns += 1;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  const read = await client.list(secrets, 'default');
  isRead = true;
  expect(read).toHaveLength(items.length);
  expect(turns).toBeGreaterThan(1);
});
