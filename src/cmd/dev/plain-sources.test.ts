import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlainSources } from './plain-sources.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-plain-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

it('counts files that are new, changed or gone', async () => {
  await write('index.js', '1');
  await write('lib/rules.mjs', '1');
  const sources = new PlainSources(folder);
  expect(sources.build()).toEqual({ written: 2 });
  expect(sources.build()).toEqual({ written: 0 });
  await write('lib/rules.mjs', '2');
  await rm(join(folder, 'index.js'));
  expect(sources.build()).toEqual({ written: 2 });
});

it('ignores packages, stored objects and other files', async () => {
  for (const file of ['node_modules/a/index.js', '.kubenest/x.json', 'README.md']) await write(file, '1');
  expect(new PlainSources(folder).build()).toEqual({ written: 0 });
});
