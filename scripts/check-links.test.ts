import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anchorsOf, checkMentions, checkPage, linksOf } from './check-links.mjs';

const run = promisify(execFile);
const script = join(import.meta.dirname, 'check-links.mjs');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-links-'));
  await writeFile(join(folder, 'other.md'), '# Other\n\n## The `kubernetes` service\n\n## Again\n\n## Again\n');
});

afterAll(() => rm(folder, { recursive: true }));

it.each([
  ['[a](other.md)', []],
  ['[a](other.md#the-kubernetes-service) [b](other.md#again-1)', []],
  ['[a](https://example.org/none.md) [b](mailto:a@example.org)', []],
  ['`[a](none.md)`\n\n```md\n[b](none.md)\n```', []],
  ['# Here\n\n[a](#here)', []],
  ['one\n\n[a](none.md)', [{ line: 3, reason: 'none.md: no such file' }]],
  ['[a](other.md#none)', [{ line: 1, reason: 'other.md#none: no such heading' }]],
  ['[a](#none)', [{ line: 1, reason: '#none: no such heading' }]],
  ['[a][b]\n\n[b]: none.md', [{ line: 3, reason: 'none.md: no such file' }]],
])('finds the dead links of %j', async (text, findings) => {
  const page = join(folder, 'page.md');
  await writeFile(page, text);
  expect(checkPage(page)).toEqual(findings);
});

it('makes the anchors that GitHub makes of headings', () => {
  expect([...anchorsOf("# What's new in 1.0?\n## `a_b` and [c](d.md)\n```sh\n# no heading\n```\n")]).toEqual([
    'whats-new-in-10',
    'a_b-and-c',
  ]);
});

it('ignores images of other hosts and code', () => {
  expect(linksOf('![a](https://example.org/a.png) ``[b](c.md) ` ``\n[d](e.md "title")')).toEqual([{ target: 'e.md', line: 2 }]);
});

it('finds mentions of pages that do not exist', async () => {
  const page = ['docs', 'none.md'].join('/');
  expect(checkMentions(`// See\n// ${page}.`, folder)).toEqual([{ line: 2, reason: `${page}: no such file` }]);
});

it('prints file and line, and fails', async () => {
  const page = join(folder, 'dead.md');
  await writeFile(page, '[a](none.md)');
  await expect(run(process.execPath, [script, page])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('dead.md:1: dead link: none.md: no such file'),
  });
});

it('finds no dead link in this repository', async () => {
  expect(await run(process.execPath, [script])).toMatchObject({ stderr: '' });
});
