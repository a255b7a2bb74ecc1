// Gets what the tests of the Redis backend need: redis-server, by Debian's package where this is root on a Debian. Elsewhere
// the tests say that they are skipped, and why.
import { spawnSync } from 'node:child_process';
import { findRedisServer } from './find-redis-server.mjs';

/** Whether there is a redis-server now. */
export function getRedis(tell) {
  if (findRedisServer() !== undefined) return true;
  if (process.getuid?.() !== 0 || !hasApt()) {
    tell('there is no redis-server, and only root on a Debian can get one: the tests of the Redis backend will be skipped');
    return false;
  }
  tell('getting redis-server by apt');
  // Only the binary is wanted: nothing is to be started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'ignore'] }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'redis-server');
  if (install() || (apt('update') && install())) return findRedisServer() !== undefined;
  tell('apt has not got redis-server: the tests of the Redis backend will be skipped');
  return false;
}

function hasApt() {
  return spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}
