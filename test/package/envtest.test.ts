import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findReference } from '../../scripts/find-reference.mjs';
import { buildGoProgram, goObstacle } from '../servers/go-programs.ts';
import { checkout, cleanEnvironment, InstalledPackage } from './installed-package.ts';

const execute = promisify(execFile);
const source = join(checkout, 'test/clients/go/envtest');
const obstacle = goObstacle(source);
const binaries = ['kube-apiserver', 'etcd'] as const;

let installed: InstalledPackage;
let program: string;
beforeAll(async () => {
  installed = await InstalledPackage.make();
  program = join(dirname(installed.project), 'program');
  if (obstacle === undefined) await buildGoProgram(source, '.', program);
}, 300_000);
afterAll(() => installed[Symbol.asyncDispose]());

/** Environment with its own cache folder, so that the test does not modify the user's. */
const environment = (): NodeJS.ProcessEnv => ({ ...cleanEnvironment(), XDG_CACHE_HOME: join(dirname(installed.project), 'cache') });

async function assets(): Promise<string> {
  const { stdout } = await execute('npx', ['--offline', 'kubenest', 'envtest', 'path'], { cwd: installed.project, env: environment() });
  return stdout.trim();
}

/** Returns the program's output, one line for each environment. */
async function environmentsOn(folder: string): Promise<string[]> {
  const { stdout } = await execute(program, [], { env: { ...environment(), KUBEBUILDER_ASSETS: folder } });
  return stdout.trim().split('\n');
}

const expected = (folder: string): string[] => {
  const kubectl = existsSync(join(folder, 'kubectl')) ? 'kubectl true' : 'no kubectl';
  const line = `1 widget, jane forbidden true, root forbidden false, a pod is Pending, ${kubectl}`;
  return [line, line, line];
};

describe('kubenest envtest path', () => {
  it('prints the same folder for concurrent calls', { timeout: 60_000 }, async () => {
    const folders = await Promise.all([assets(), assets(), assets()]);
    expect(new Set(folders).size).toBe(1);
    const names = await readdir(folders[0] ?? '');
    expect(names).toEqual(expect.arrayContaining([...binaries]));
    expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('concurrent controller-runtime environments install definitions, add users and stop', () => {
  it('on kubenest', { timeout: 120_000 }, async ({ skip }) => {
    if (obstacle !== undefined) skip(obstacle);
    const folder = await assets();
    expect(await environmentsOn(folder)).toEqual(expected(folder));
  });

  it('as on the real binaries', { timeout: 120_000 }, async ({ skip }) => {
    if (obstacle !== undefined) skip(obstacle);
    const missing = binaries.filter((name) => findReference(name) === undefined);
    if (missing.length > 0) skip(`there is no ${missing.join(', no ')}`);
    const folder = join(dirname(installed.project), 'real');
    await mkdir(folder);
    for (const name of [...binaries, 'kubectl'] as const) {
      const found = findReference(name);
      if (found !== undefined) await symlink(found, join(folder, name));
    }
    expect(await environmentsOn(folder)).toEqual(expected(folder));
  });
});
