/** Starts a redis-server for one test, on a free port with its own folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../scripts/free-port.ts';
import { findRedisServer, findRedisServers, findRedisVersions, hasWaitAof } from '../../scripts/find-redis-server.mjs';

/** Path of the binary; undefined if there is none, so that tests are skipped. */
export const redisServer: string | undefined = findRedisServer();
/** Paths of all installed binaries of different versions. */
export const redisServers: readonly string[] = findRedisServers();
/** One binary of each version, by name. */
export const redisVersions: ReadonlyMap<string, string> = findRedisVersions();
/** A binary with WAITAOF; undefined if there is none, so that tests are skipped. */
export const syncingServer: string | undefined = redisServers.find(hasWaitAof);
export const noSyncingServer = 'there is no redis-server of 7.2 or newer and no valkey-server: npm run setup could not get one';
export const noRedis = 'there is no redis-server: npm run setup could not get one';

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly child: ChildProcess;
  /** Kills it with SIGKILL and waits for its end. */
  kill(): Promise<void>;
  /** Kills it and restarts it on the same port and folder. */
  restart(): Promise<RedisServer>;
  command(...args: string[]): string;
}

/** Settings under which acknowledged writes are durable; replicas synchronize immediately. */
export const durable = [
  ...['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction', '--save', ''],
  ...['--repl-diskless-sync-delay', '0'],
];

/** `settings` are command line options that replace the durable ones. */
export async function startRedis(
  settings: readonly string[] = durable,
  at?: { readonly port: number; readonly folder: string },
  binary = redisServer,
): Promise<RedisServer> {
  if (binary === undefined) throw new Error(noRedis);
  const port = at?.port ?? (await freePort());
  const folder = at?.folder ?? mkdtempSync(join(tmpdir(), 'redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const command = (...words: string[]): string =>
    String(spawnSync(binary.replace(/-server$/, '-cli'), ['-p', String(port), ...words]).stdout).trim();
  while (command('PING') !== 'PONG') {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    await sleep(20);
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    child,
    command,
    kill,
    async restart() {
      await kill();
      return startRedis(settings, { port, folder }, binary);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
