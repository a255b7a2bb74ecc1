import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

const run = promisify(execFile);
const program = join(import.meta.dirname, 'program');
/** Nothing is fetched: where a module is missing the test is skipped. */
const offline = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly -buildvcs=false' };

function obstacle(): string | undefined {
  try {
    execFileSync('go', ['list', '-deps', '.'], { cwd: program, env: offline, stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no Go, or modules of the program are not in its cache: go mod download in test/e2e/operator/program gets them';
  }
}

it('an operator on controller-runtime defines, converts, reconciles and follows its kinds', async ({ skip }) => {
  const reason = obstacle();
  if (reason !== undefined) skip(reason);
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-operator-'));
  try {
    await run('go', ['build', '-o', join(folder, 'operator'), '.'], { cwd: program, env: offline });
    await using cluster = await startTestCluster({ listen: true });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig());
    const { stdout } = await run(join(folder, 'operator'), [], { env: { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') } });
    expect(stdout.trim().split('\n')).toEqual([
      'a kind that is not defined has no mapping',
      'a kind is mapped once it is defined',
      'the controller added its finalizer and the status',
      'the webhook converts what is read and written in the other version',
      'the object goes when the controller has removed its finalizer',
      'a dynamic informer follows the converted version',
      'a kind that came later is mapped and used by the same client',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 900_000);
