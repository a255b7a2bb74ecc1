/**
 * Bodies of the greatest size of which a hundred octets are made of each, many at once: the memory of the process stays bounded, a small request is answered, and a
 * large one of another user has its turn before the rest of theirs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';
import { memory } from '../servers/memory.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const count = 16;
/** Two bodies that are worked on take 200 MB, and as much is garbage; all at once take 2 GB. */
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

it('works on few of them at once, of each user in turn', { timeout: 180_000 }, async () => {
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
  while (answered === 0) await sleep(10);
  const answeredBefore = answered;
  expect(await post('other', { metadata: { name: 'small' } })).toBe(201);
  expect(await post('other', large)).toBe(422);
  // Those that were being worked on, and those whose turn it was meanwhile.
  expect(answered - answeredBefore).toBeLessThan(count / 2);
  // Of many at once some may have waited longer than a request may.
  expect(new Set([...(await Promise.all(greedy)), 504])).toEqual(new Set([422, 504]));
  expect(memory(server).most - before).toBeLessThan(mostMegabytes);
});
