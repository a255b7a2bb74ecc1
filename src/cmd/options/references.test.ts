import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redactSecrets } from '#apiserver/base/secrets';
import { resolveReferences } from './references.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-references-'));
  await writeFile(join(folder, 'password'), 'correct horse\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const environment = { USER_NAME: 'jane-of-tests', EMPTY: '' };

it.each<[document: unknown, value: unknown]>([
  [{ a: `\${env:USER_NAME}` }, { a: 'jane-of-tests' }],
  [{ a: `\${env:EMPTY}` }, { a: '' }],
  [{ url: `redis://\${env:USER_NAME}:\${file:password}@host` }, { url: 'redis://jane-of-tests:correct horse@host' }],
  [[{ a: [`\${file:password}`] }], [{ a: ['correct horse'] }]],
  [{ a: `$\${env:USER_NAME} \${other:a} $` }, { a: `\${env:USER_NAME} \${other:a} $` }],
  [
    { a: 1, b: null, c: true, d: new Date(0) },
    { a: 1, b: null, c: true, d: new Date(0) },
  ],
])('resolves %j', async (document, value) => {
  expect(await resolveReferences(document, folder, environment)).toMatchObject({ value, problems: [] });
});

it('names the members with references, and the files', async () => {
  const document = { storage: { redisUrl: `\${file:password}` }, plugins: [{ configuration: { Team: { token: `\${env:USER_NAME}` } } }] };
  const { members, files } = await resolveReferences(document, folder, environment);
  expect([...members].toSorted()).toEqual(['plugins[0].configuration.Team.token', 'storage.redisUrl']);
  expect(files).toEqual([join(folder, 'password')]);
});

it('reports each missing value with its member', async () => {
  const { problems } = await resolveReferences({ a: { b: `\${env:MISSING}` }, c: [`\${file:none}`] }, folder, environment);
  expect(problems.toSorted()).toEqual([
    'a.b: the environment variable MISSING is not set',
    `c[0]: cannot open ${join(folder, 'none')}: there is no such file or folder`,
  ]);
});

it('texts do not show the values, also in JSON', async () => {
  await writeFile(join(folder, 'quoted'), 'with "quotes" in it');
  await resolveReferences({ a: `\${file:quoted}`, b: `\${env:USER_NAME}` }, folder, environment);
  expect(redactSecrets(JSON.stringify({ text: 'is with "quotes" in it, jane-of-tests' }))).toBe('{"text":"is [redacted], [redacted]"}');
});
