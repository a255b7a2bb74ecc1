import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** redis-server, or valkey-server, of the PATH or of the places where the system keeps servers; undefined if there is none. */
export function findRedisServer() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/usr/sbin'];
  for (const name of ['redis-server', 'valkey-server'])
    for (const folder of folders) if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  return undefined;
}
