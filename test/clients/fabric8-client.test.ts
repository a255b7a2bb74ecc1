import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, 'java');

/** Compiles the program. Returns its class path, or the reason why that is impossible. */
async function compiled(folder: string): Promise<{ readonly classPath: string } | { readonly obstacle: string }> {
  const list = join(folder, 'classpath');
  try {
    await run('mvn', ['-q', '-B', '-f', join(source, 'pom.xml'), 'dependency:build-classpath', `-Dmdep.outputFile=${list}`], {
      timeout: 240_000,
    });
    const classPath = `${folder}:${(await readFile(list, 'utf8')).trim()}`;
    await run('javac', ['-cp', classPath, '-d', folder, join(source, 'Client.java')]);
    return { classPath };
  } catch (error) {
    const { stdout, message } = error as { readonly stdout?: string; readonly message: string };
    const why = `${stdout ?? ''}${message}`.trim().split('\n')[0];
    return { obstacle: `there is no Java 17 with Maven, or its repository cannot be reached: ${why}` };
  }
}

it("the fabric8 client watches, applies and elects a leader with the server's kubeconfig", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-fabric8-'));
  try {
    const program = await compiled(folder);
    if ('obstacle' in program) return skip(program.obstacle);
    await using _server = await Kubenest.start(join(folder, 'server'));
    const env = { ...process.env, KUBECONFIG: join(folder, 'server/data/kubeconfig') };
    const { stdout } = await run('java', ['-cp', program.classPath, 'Client'], { env, timeout: 120_000 });
    expect(stdout.trim().split('\n')).toEqual(['version 36', 'informed true 1', 'applied 1 Apply, forced 2', 'led as java']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 400_000);
