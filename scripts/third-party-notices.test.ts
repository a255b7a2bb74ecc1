import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { noticesText } from './third-party-notices.mjs';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kubenest-notices-'));
});
afterEach(() => rm(root, { recursive: true }));

/** Returns the notice of a package with the files. */
async function noticeOf(manifest: object, files: Readonly<Record<string, string>> = {}): Promise<string> {
  await mkdir(join(root, 'a'));
  const all = { ...files, 'package.json': JSON.stringify({ name: 'a', version: '1.0.0', ...manifest }) };
  for (const [name, text] of Object.entries(all)) await writeFile(join(root, 'a', name), text);
  return noticesText(root, ['a']).split('\n').slice(4).join('\n').trim();
}

const readme = '# a\n\n## License\n\n(The MIT License)\n\nCopyright (c) 2012 Ada\n\n## Links\n\nnone\n';

it.each([
  { name: 'a file', manifest: { license: 'MIT' }, files: { LICENSE: 'Copyright Ada\n' }, want: 'a 1.0.0 (MIT)\n\nCopyright Ada' },
  {
    name: 'a file, not the readme',
    manifest: { license: 'MIT' },
    files: { LICENSE: 'text', 'README.md': readme },
    want: 'a 1.0.0 (MIT)\n\ntext',
  },
  {
    name: 'an old list in the manifest',
    manifest: { licenses: [{ type: 'MIT' }], author: 'Ada' },
    want: 'a 1.0.0 (MIT)\n\nCopyright: Ada',
  },
  {
    name: 'a section of the readme only',
    manifest: {},
    files: { 'Readme.md': readme },
    want: 'a 1.0.0 (licence below)\n\n(The MIT License)\n\nCopyright (c) 2012 Ada',
  },
])('takes the licence from $name', async ({ manifest, files, want }) => {
  expect(await noticeOf(manifest, files)).toBe(want);
});

it('rejects a package without a licence', async () => {
  await expect(noticeOf({}, { 'README.md': '# a\n' })).rejects.toThrow('a is bundled but has no licence');
});
