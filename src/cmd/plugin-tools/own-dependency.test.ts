import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownDependency } from './own-dependency.ts';

let project: string;
let own: string;
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'kubenest-dependency-'));
  own = join(project, 'node_modules/kubenest');
  await mkdir(own, { recursive: true });
});
afterEach(() => rm(project, { recursive: true }));

const installedFrom = (entry: object): Promise<void> =>
  writeFile(join(project, 'node_modules/.package-lock.json'), JSON.stringify({ packages: { 'node_modules/kubenest': entry } }));

it('is the version if kubenest was installed from a registry', async () => {
  await installedFrom({ version: '1.2.3', resolved: 'https://registry.example.com/kubenest-1.2.3.tgz' });
  expect(await ownDependency(join(project, 'labels'), own)).toBe('1.2.3');
});

it('is the archive if kubenest was installed from one', async () => {
  await installedFrom({ version: '1.2.3', resolved: 'file:archives/kubenest.tgz' });
  await mkdir(join(project, 'archives'));
  await writeFile(join(project, 'archives/kubenest.tgz'), '');
  expect(await ownDependency(join(project, 'labels'), own)).toBe('file:../archives/kubenest.tgz');
});

it('is the folder if the archive is gone', async () => {
  await installedFrom({ version: '1.2.3', resolved: 'file:archives/kubenest.tgz' });
  expect(await ownDependency(join(project, 'labels'), own)).toBe('file:../node_modules/kubenest');
});

it('is the folder of a checkout, which is not installed', async () => {
  expect(await ownDependency(join(project, 'labels'), own)).toBe('file:../node_modules/kubenest');
});
