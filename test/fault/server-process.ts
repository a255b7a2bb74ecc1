/** bin/kubenest, which must be built, as a process that faults happen to. */
import type { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { token } from './clients.ts';
import { servingFlags } from '../servers/serving-flags.ts';

const bin = resolve(import.meta.dirname, '../../bin/kubenest');

export interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly errors: () => string;
}

export interface ServerProcessOptions {
  /** Where its tokens are written, and its certificates unless the flags say otherwise. */
  readonly folder: string;
  readonly port: number;
  /** Of its store. */
  readonly flags: readonly string[];
  /** For KUBENEST_FAILPOINT. */
  readonly failpoint?: string;
}

/** Resolves when it serves, or has ended. */
export async function startServer({ folder, port, flags, failpoint = '' }: ServerProcessOptions): Promise<Server> {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${token},admin,admin,"system:masters"\n`);
  const env = { PATH: process.env['PATH'], ...(failpoint && { KUBENEST_FAILPOINT: failpoint }) };
  const args = ['serve', `--secure-port=${port}`, `--token-auth-file=${tokens}`, ...servingFlags(), ...flags];
  const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-10_000);
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  // Its log would fill the pipe.
  child.stdout.resume();
  return { child, port, errors: () => errors };
}
