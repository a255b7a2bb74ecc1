/** Starts an etcd for one test, on free ports with its own folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findReference } from '../../scripts/find-reference.mjs';
import { freePort } from '../../scripts/free-port.ts';

/** Path of the binary; undefined if there is none, so that tests are skipped. */
export const etcd: string | undefined = findReference('etcd');
export const noEtcd = 'there is no etcd: put one on the PATH, or run ../shared/reference/build.sh';

export interface EtcdServer extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  readonly port: number;
  /** Kills it with SIGKILL and restarts it on the same ports and folder. */
  restart(): Promise<EtcdServer>;
}

interface Place {
  readonly folder: string;
  readonly ports: readonly [client: number, peer: number, metrics: number];
}

/** Number of attempts, because a free port may be taken by another test before it is used. */
const attempts = 3;

/** `flags` are added to those of a single-member etcd. */
export async function startEtcd(flags: readonly string[] = [], scheme: 'http' | 'https' = 'http'): Promise<EtcdServer> {
  for (let attempt = 1; ; attempt += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'etcd-'));
    try {
      return await startAt({ folder, ports: [await freePort(), await freePort(), await freePort()] }, flags, scheme);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      if (attempt === attempts) throw error;
    }
  }
}

async function startAt(place: Place, flags: readonly string[], scheme: 'http' | 'https'): Promise<EtcdServer> {
  if (etcd === undefined) throw new Error(noEtcd);
  const { folder, ports } = place;
  const url = `${scheme}://127.0.0.1:${ports[0]}`;
  const peer = `http://127.0.0.1:${ports[1]}`;
  const metrics = `http://127.0.0.1:${ports[2]}`;
  const args = [
    ...['--name', 'one', '--data-dir', folder, '--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `one=${peer}`],
    ...['--listen-metrics-urls', metrics, '--unsafe-no-fsync', '--log-level', 'error', ...flags],
  ];
  const child = spawn(etcd, args, { stdio: 'ignore' });
  const isHealthy = async (): Promise<boolean> => {
    try {
      return (await fetch(`${metrics}/health`)).ok;
    } catch {
      return false;
    }
  };
  while (!(await isHealthy())) {
    if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}`);
    await sleep(20);
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    url,
    child,
    port: ports[0],
    async restart() {
      await kill();
      return startAt(place, flags, scheme);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
