import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runCommand } from './commands.ts';
import { parseEncryptionConfiguration } from '#cmd/config/encryption-configuration';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-encryption-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

it('writes a valid configuration with a new key each time, readable only by its owner', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const files = ['a.yaml', 'b.yaml'].map((name) => join(folder, name));
  for (const file of files) expect(await runCommand(['encryption', 'new', file])).toBe(0);
  const [one, other] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  expect(one).not.toBe(other);
  const [rule] = parseEncryptionConfiguration(one ?? '');
  expect(rule).toMatchObject({ resources: ['secrets'], providers: [{}, {}] });
  expect((await stat(files[0] ?? '')).mode & 0o777).toBe(0o600);
});

it('does not replace an existing file, and reports the reason', async () => {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const file = join(folder, 'a.yaml');
  await writeFile(file, 'the only key');
  expect(await runCommand(['encryption', 'new', file])).toBe(1);
  expect(await readFile(file, 'utf8')).toBe('the only key');
  expect(stderr.mock.calls.join('')).toBe(
    `kubenest encryption new: ${file} exists: its key may be the only one that reads the store, so it is not replaced\n`,
  );
});
