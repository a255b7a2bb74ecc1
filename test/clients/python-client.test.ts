import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

const run = promisify(execFile);
/** The client of Kubernetes 1.36 and its folder, which is kept between runs. */
const requirement = 'kubernetes==36.0.3';
const environment = join(import.meta.dirname, '../../node_modules/.cache/python-client');
const python = join(environment, 'bin/python');

/** Creates a virtual environment with the client. Returns the reason if that is impossible. */
async function obstacle(): Promise<string | undefined> {
  try {
    if (existsSync(join(environment, requirement))) return undefined;
    await run('python3', ['-m', 'venv', environment]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--no-input', '--retries=0', '--timeout=10', requirement]);
    writeFileSync(join(environment, requirement), '');
    return undefined;
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    return `there is no Python 3 with venv, or its package index cannot be reached: ${(error as Error).message.split('\n')[0]}`;
  }
}

it('the Python client creates, reads, updates, watches, applies, scales and paginates', async ({ skip }) => {
  const reason = await obstacle();
  if (reason !== undefined) skip(reason);
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-python-'));
  try {
    await using cluster = await startTestCluster({ listen: true });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig());
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
    const { stdout } = await run(python, [join(import.meta.dirname, 'python/client.py')], { env });
    expect(stdout.trim().split('\n')).toEqual([
      'created a True',
      'conflict 409 Conflict',
      "listed ['3']",
      "watched [('ADDED', 'a', '1'), ('MODIFIED', 'a', '2'), ('MODIFIED', 'a', '3'), ('DELETED', 'a', '3')]",
      'gone 404',
      'scaled 4',
      "applied [('python', 'Apply')]",
      'paged 25 True',
      'version 1',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 300_000);
