import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkWritable, makeFolder } from './make-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'make-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('makes the folders around it with the same mode, and leaves what there is', () => {
  makeFolder(join(folder, 'a/b/c'), 0o700);
  expect(['a', 'a/b', 'a/b/c'].map((path) => statSync(join(folder, path)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  makeFolder(join(folder, 'a/b'), 0o755);
  expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
});

test.each(['/proc/x', '/proc/x/y', '/dev/null/x'])('throws where the system makes no folder: %s', (path) => {
  expect(() => makeFolder(path)).toThrow(/^E[A-Z]+: /);
});

test('throws where a file has the name', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file'))).toThrow(/^EEXIST: /);
});

test('a folder that can be written has nothing in it afterwards', () => {
  checkWritable(folder);
  expect(readdirSync(folder)).toEqual([]);
  expect(() => checkWritable('/proc')).toThrow(/^E[A-Z]+: /);
});
