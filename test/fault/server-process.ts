/** Runs bin/kubenest, which must be built, as a process for fault injection. */
import type { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { token } from './clients.ts';
import { servingFlags, withoutControllers } from '../servers/serving-flags.ts';

const bin = resolve(import.meta.dirname, '../../bin/kubenest');

export interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly errors: () => string;
}

export interface ServerProcessOptions {
  /** Folder of its tokens, and of its certificates unless set by flags. */
  readonly folder: string;
  readonly port: number;
  /** Flags of its store. */
  readonly flags: readonly string[];
  /** Value of KUBENEST_FAILPOINT. */
  readonly failpoint?: string;
}

/** Resolves when it is ready or has ended. */
export async function startServer({ folder, port, flags, failpoint = '' }: ServerProcessOptions): Promise<Server> {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${token},admin,admin,"system:masters"\n`);
  const env = { PATH: process.env['PATH'], ...(failpoint && { KUBENEST_FAILPOINT: failpoint }) };
  const args = ['serve', `--secure-port=${port}`, `--token-auth-file=${tokens}`, withoutControllers, ...servingFlags(), ...flags];
  const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-10_000);
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  // Drains the log, which would fill the pipe.
  child.stdout.resume();
  return { child, port, errors: () => errors };
}
