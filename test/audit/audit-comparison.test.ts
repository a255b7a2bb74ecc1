import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { normalized, policy, requests, tokens, userAgent } from './requests.ts';

/** Events of the real server, written by `record.ts`. */
const recorded = JSON.parse(await readFile(new URL('./kube-apiserver.json', import.meta.url), 'utf8')) as readonly unknown[];
let folder: string;
let noted: readonly unknown[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
  const file = (name: string): string => join(folder, name);
  await Promise.all([writeFile(file('policy.json'), JSON.stringify(policy)), writeFile(file('tokens.csv'), tokens)]);
  {
    await using cluster = await startTestCluster({
      flags: [
        `--audit-policy-file=${file('policy.json')}`,
        `--audit-log-path=${file('audit.log')}`,
        `--token-auth-file=${file('tokens.csv')}`,
        '--disable-admission-plugins=ServiceAccount',
      ],
    });
    for (const { method, path, token, headers, body } of requests) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const sent = { method, as: null, headers: { 'user-agent': userAgent, ...authorization, ...headers } };
      const answer = await cluster.fetch(
        path,
        body === undefined ? sent : { ...sent, body: typeof body === 'string' ? body : JSON.stringify(body) },
      );
      await answer.text();
    }
  }
  noted = normalized((await readFile(file('audit.log'), 'utf8')).split('\n'));
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

it('covers exactly the recorded requests', () => {
  expect(requests.length).toBeGreaterThanOrEqual(190);
  expect(noted).toHaveLength(recorded.length);
});

it.each(recorded.map((event, i) => ({ event, i, name: titleOf(event) })))('event $i: $name', ({ event, i }) => {
  expect(noted[i]).toEqual(event);
});

function titleOf(event: unknown): string {
  const { stage, verb, requestURI } = event as Readonly<Record<string, string>>;
  return `${stage} ${verb} ${requestURI}`;
}
