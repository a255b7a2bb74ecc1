/**
 * Many concurrent bodies of the maximum size that expand a hundredfold: memory must be bounded, small requests must be
 * answered, and a large request of another user must not wait for all of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';
import { memory } from '../servers/memory.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const count = 16;
/** Two bodies in progress take 200 MB and as much garbage; all at once would take 2 GB. */
const mostMegabytes = 1_000;
let folder: string;
let server: Kubenest;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubenest-large-bodies-'));
  const users = { greedy: 'greedy,2,"system:masters"', other: 'other,3,"system:masters"' };
  server = await Kubenest.start(folder, ['--authorization-mode=RBAC'], users);
}, 60_000);
afterAll(async () => {
  await server.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('processes a few of them at a time, users in turn', { timeout: 180_000 }, async () => {
  const owners = Array.from({ length: 1_000_000 }, () => ({}));
  const large = { metadata: { name: 'large', ownerReferences: owners } };
  const post = (token: string, body: unknown): Promise<number> => server.fetch(configMaps, { token, body }).then(({ status }) => status);
  const before = memory(server).now;
  let answered = 0;
  const greedy = Array.from({ length: count }, async () => {
    const status = await post('greedy', large);
    answered += 1;
    return status;
  });
  await vi.waitUntil(() => answered > 0, { timeout: 60_000, interval: 10 });
  const answeredBefore = answered;
  expect(await post('other', { metadata: { name: 'small' } })).toBe(201);
  expect(await post('other', large)).toBe(422);
  // The requests in progress, and those that were due meanwhile.
  expect(answered - answeredBefore).toBeLessThan(count / 2);
  // Some may have waited until their deadline.
  expect(new Set([...(await Promise.all(greedy)), 504])).toEqual(new Set([422, 504]));
  expect(memory(server).most - before).toBeLessThan(mostMegabytes);
});
