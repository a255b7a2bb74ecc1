/** Starts a kine on SQLite for one test; it implements the part of etcd's protocol that Kubernetes uses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findKine } from '../../scripts/find-kine.mjs';
import { freePort } from '../../scripts/free-port.ts';

export const kine: string | undefined = findKine();
export const noKine = 'there is no kine: npm test could not build one (that needs Go, a C compiler and the sources)';

export async function startKine(): Promise<{ readonly url: string } & AsyncDisposable> {
  if (kine === undefined) throw new Error(noKine);
  const folder = mkdtempSync(join(tmpdir(), 'kine-'));
  const port = await freePort();
  const args = ['--listen-address', `127.0.0.1:${port}`, '--endpoint', 'sqlite://', '--metrics-bind-address', '0'];
  const child = spawn(kine, args, { cwd: folder, stdio: 'ignore' });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`kine ended with ${child.exitCode}`);
    await sleep(50);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
