import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeMissingTypes } from './write-missing-types.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-types-'));
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a script that stands for the one of a checkout. */
async function checkout(script: string): Promise<void> {
  await mkdir(join(folder, 'scripts'));
  await writeFile(join(folder, 'scripts/build-types.mjs'), script);
}
const writes = `import { mkdirSync } from 'node:fs'; mkdirSync(new URL('../dist/types', import.meta.url), { recursive: true });`;

it('writes the types of a checkout that lacks them', async () => {
  await checkout(writes);
  await writeMissingTypes(folder);
  expect(existsSync(join(folder, 'dist/types'))).toBe(true);
});

it('does nothing if they exist, and in an installed package', async () => {
  await writeMissingTypes(folder);
  await checkout('process.exit(1)');
  await mkdir(join(folder, 'dist/types'), { recursive: true });
  await writeMissingTypes(folder);
});

it('reports a failure', async () => {
  await checkout('process.exit(1)');
  await expect(writeMissingTypes(folder)).rejects.toThrow(`cannot write the type declarations of ${folder}`);
});
