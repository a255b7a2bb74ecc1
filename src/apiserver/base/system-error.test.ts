import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorMessage, readText } from './system-error.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-errors-'));
  await writeFile(join(folder, 'file'), 'text');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each<[name: string, act: (file: string) => Promise<unknown>, path: string, says: string]>([
  ['a missing file', readText, 'none', 'cannot open FILE: there is no such file or folder'],
  ['a folder instead of a file', readText, '.', 'cannot read FILE: it is a folder, and a file is expected'],
  ['a path through a file', readText, 'file/a', 'cannot open FILE: a part of the path is a file, and a folder is expected'],
  ['a missing path', stat, 'none', 'cannot read FILE: there is no such file or folder'],
  ['a missing folder', readdir, 'none', 'cannot list the folder FILE: there is no such file or folder'],
  ['a folder that exists', mkdir, '.', 'cannot create the folder FILE: it exists already'],
])('names %s and the reason', async (_, act, path, says) => {
  const file = path === '.' ? folder : join(folder, path);
  const error: unknown = await act(file).catch((thrown: unknown) => thrown);
  expect(errorMessage(error)).toBe(says.replace('FILE', file));
});

it('leaves other errors as they are', () => {
  expect(errorMessage(new TypeError('ours'))).toBe('ours');
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', syscall: 'connect' });
  expect(errorMessage(refused)).toBe('connect ECONNREFUSED 127.0.0.1:1');
});
