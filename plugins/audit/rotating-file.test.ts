import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-rotation-'));
});
afterEach(() => rm(folder, { recursive: true }));

const none: RotationOptions = { maxSizeBytes: 10, maxAgeDays: 0, maxBackups: 0, compress: false };
const day = (n: number): Date => new Date(Date.UTC(2026, 0, n, 3, 4, 5));

const fail = (error: unknown): void => {
  throw error;
};

/** Writes a line on each day. */
function write(options: Partial<RotationOptions>, days: number, onError = fail): void {
  let today = 1;
  const file = new RotatingFile(join(folder, 'audit.log'), { ...none, ...options }, onError, () => day(today));
  for (; today <= days; today += 1) file.write(`line ${today}...\n`);
  file.close();
}

it('rotates before a line that does not fit', async () => {
  write({}, 3);
  expect((await readdir(folder)).sort()).toEqual(['audit-2026-01-02T03-04-05.000.log', 'audit-2026-01-03T03-04-05.000.log', 'audit.log']);
  expect(await readFile(join(folder, 'audit-2026-01-02T03-04-05.000.log'), 'utf8')).toBe('line 1...\n');
  expect(await readFile(join(folder, 'audit.log'), 'utf8')).toBe('line 3...\n');
});

it.each([
  { name: 'at most the configured number of old files', options: { maxBackups: 2 }, left: ['04', '05'] },
  { name: 'old files up to the configured age', options: { maxAgeDays: 1 }, left: ['04', '05'] },
  { name: 'all files without limits', options: {}, left: ['02', '03', '04', '05'] },
  { name: 'one file without a size limit', options: { maxSizeBytes: 0 }, left: [] },
])('keeps $name', async ({ options, left }) => {
  write(options, 5);
  const backups = (await readdir(folder)).filter((name) => name !== 'audit.log').sort();
  expect(backups).toEqual(left.map((n) => `audit-2026-01-${n}T03-04-05.000.log`));
});

it('appends to an existing file', async () => {
  write({ maxSizeBytes: 100 }, 1);
  write({ maxSizeBytes: 100 }, 1);
  expect(await readFile(join(folder, 'audit.log'), 'utf8')).toBe('line 1...\nline 1...\n');
});

it('compresses old files', async () => {
  write({ compress: true }, 2);
  const name = 'audit-2026-01-02T03-04-05.000.log.gz';
  await expect.poll(() => readdir(folder)).toEqual([name, 'audit.log']);
  expect(gunzipSync(await readFile(join(folder, name))).toString()).toBe('line 1...\n');
});

it('reports a file that cannot be compressed and keeps it', async () => {
  const name = 'audit-2026-01-02T03-04-05.000.log';
  await mkdir(join(folder, `${name}.gz`));
  const errors: unknown[] = [];
  write({ compress: true }, 2, (error) => void errors.push(error));
  await expect.poll(() => errors).toEqual([expect.objectContaining({ code: expect.stringContaining('EISDIR') })]);
  expect(await readFile(join(folder, name), 'utf8')).toBe('line 1...\n');
});

it('reports a file that cannot be removed and continues', async () => {
  await mkdir(join(folder, 'audit-2026-01-01T03-04-05.000.log'));
  const errors: unknown[] = [];
  write({ maxBackups: 1 }, 2, (error) => void errors.push(error));
  expect(errors).toEqual([expect.objectContaining({ syscall: 'unlink' })]);
  expect(await readFile(join(folder, 'audit.log'), 'utf8')).toBe('line 2...\n');
});
