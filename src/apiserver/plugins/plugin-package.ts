import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The version of what `kubenest/sdk` promises; packages say which they need by its major number. */
export const sdkVersion = '1.0.0';

/** A package of plugins as it was found. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** What to import, absolute. */
  readonly modules: readonly string[];
}

interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly kubenest?: { readonly sdk?: unknown; readonly plugins?: unknown };
}

/**
 * Finds a package as `import` would from a folder, and checks what its package.json says of it:
 *
 *     "kubenest": { "sdk": "^1", "plugins": ["./dist/index.js"] }
 *
 * `integrity`: what `integrityOf` must give. Throws an Error that names the package and says what is wrong.
 */
export function findPluginPackage(name: string, folder: string, integrity?: string): PluginPackage {
  const file = manifestOf(name, folder);
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const { sdk, plugins } = manifest.kubenest ?? {};
  if (typeof sdk !== 'string' || !isStrings(plugins) || plugins.length === 0)
    throw new Error(`its package.json has no "kubenest": { "sdk": "^1", "plugins": ["./dist/index.js"] }`);
  if (!/^\^?\d+(\.\d+){0,2}$/.test(sdk)) throw new Error(`"kubenest.sdk" is ${JSON.stringify(sdk)}, and must be like "^1"`);
  if (!satisfies(sdkVersion, sdk)) throw new Error(`it is made for version ${sdk} of kubenest/sdk, and this server has ${sdkVersion}`);
  const root = dirname(file);
  const modules = plugins.map((path) => join(root, path));
  const missing = modules.find((path) => !path.startsWith(root + sep) || !existsSync(path));
  if (missing !== undefined) throw new Error(`it has no file ${relative(root, missing)}: is it built?`);
  if (integrity !== undefined && integrityOf(root) !== integrity)
    throw new Error(`its files are not those that were asked for: the integrity is ${integrityOf(root)}`);
  return { name, version: typeof manifest.version === 'string' ? manifest.version : '', folder: root, modules };
}

/**
 * `sha512-` and the digest of a package's files: of the paths, with slashes and in the order of their UTF-16 code units, and
 * of what is in them, each ended by a zero byte; packages inside it (`node_modules`) are not its own.
 */
export function integrityOf(folder: string): string {
  const hash = createHash('sha512');
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').includes('node_modules'))
    .sort();
  for (const path of files)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(folder, path)))
      .update('\0');
  return `sha512-${hash.digest('base64')}`;
}

function manifestOf(name: string, folder: string): string {
  try {
    const file =
      name.startsWith('.') || name.startsWith('/')
        ? join(folder, name, 'package.json')
        : findPackageJSON(name, pathToFileURL(`${folder}/`));
    if (file !== undefined && existsSync(file)) return file;
  } catch {
    // Told below.
  }
  throw new Error(`it is not installed in ${folder}, nor above it`);
}

/** `^1.2` is 1.2 and what follows below 2; `1`, `1.2` and `1.2.3` are all that begin so. */
function satisfies(version: string, range: string): boolean {
  const have = version.split('.').map(Number);
  const want = range.replace('^', '').split('.').map(Number);
  if (!range.startsWith('^')) return want.every((number, i) => number === have[i]);
  if (want[0] !== have[0]) return false;
  for (let i = 1; i < want.length; i++) if (want[i] !== have[i]) return (want[i] as number) < (have[i] as number);
  return true;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
