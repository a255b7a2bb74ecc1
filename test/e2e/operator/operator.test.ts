import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { buildGoProgram, goObstacle } from '../../servers/go-programs.ts';

const run = promisify(execFile);
const program = join(import.meta.dirname, 'program');

it('an operator on controller-runtime defines, converts, reconciles and watches its kinds', async ({ skip }) => {
  const reason = goObstacle(program);
  if (reason !== undefined) skip(reason);
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-operator-'));
  try {
    await buildGoProgram(program, '.', join(folder, 'operator'));
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
