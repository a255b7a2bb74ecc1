/** The package as users have it: packed, and installed outside of the checkout. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const checkout = resolve(import.meta.dirname, '../..');
export const execute = promisify(execFile);

/** Returns the environment of a user with Node and `npm` and without a test runner. */
export function cleanEnvironment(node = process.execPath): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean => /^(npm_|vitest|node_options|kubenest_)/i.test(name);
  const kept = Object.entries(process.env).filter(([name]) => !isOurs(name));
  return { ...Object.fromEntries(kept), PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`, NO_COLOR: '1' };
}

export class InstalledPackage implements AsyncDisposable {
  /** The project in which the package is installed. */
  readonly project: string;
  readonly archive: string;

  private constructor(project: string, archive: string) {
    this.project = project;
    this.archive = archive;
  }

  static async make(): Promise<InstalledPackage> {
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-package-'));
    const options = { env: cleanEnvironment() };
    const pack = [join(checkout, 'scripts/pack.mjs'), '--silent', `--pack-destination=${folder}`];
    const { stdout } = await execute(process.execPath, pack, { ...options, cwd: checkout });
    const archive = join(folder, stdout.trim().split('\n').at(-1) ?? '');
    const project = await mkdtemp(join(folder, 'project-'));
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { ...options, cwd: project });
    return new InstalledPackage(project, archive);
  }

  /** Folder of the package. */
  get root(): string {
    return join(this.project, 'node_modules/kubenest');
  }

  /** Path of a command installed by npm. */
  command(name: string): string {
    return join(this.project, 'node_modules/.bin', name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(dirname(this.project), { recursive: true, force: true });
  }
}
