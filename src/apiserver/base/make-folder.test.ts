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

test('creates missing parent folders with the same mode and keeps existing ones', () => {
  makeFolder(join(folder, 'a/b/c'), 0o700);
  expect(['a', 'a/b', 'a/b/c'].map((path) => statSync(join(folder, path)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  makeFolder(join(folder, 'a/b'), 0o755);
  expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
});

test.each(['/proc/x', '/proc/x/y', '/dev/null/x'])('throws if the system cannot create a folder: %s', (path) => {
  expect(() => makeFolder(path)).toThrow(/^E[A-Z]+: /);
});

test('throws if the path is a file', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file'))).toThrow(/^EEXIST: /);
});

test('checkWritable leaves no file behind', () => {
  checkWritable(folder);
  expect(readdirSync(folder)).toEqual([]);
  expect(() => checkWritable('/proc')).toThrow(/^E[A-Z]+: /);
});
