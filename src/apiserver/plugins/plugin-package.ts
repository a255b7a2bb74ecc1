import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import semver from 'semver';
import { ownFolder } from './own-folder.ts';
import { verifyPackage } from './package-integrity.ts';
import { fileDigest, importOnly } from './verified-modules.ts';

/** Version of the `kubenest/sdk` API. Packages declare the major version that they need. */
export const sdkVersion = '1.0.0';

/** A resolved plugin package. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** Absolute paths of the modules to import. */
  readonly modules: readonly string[];
}

interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly kubenest?: { readonly sdk?: unknown; readonly plugins?: unknown };
}

/** Prefix of the packages that are part of the server's own package: `kubenest/catalog/images`. */
const catalogPrefix = 'kubenest/catalog/';

/**
 * Resolves a package like `import` does from a folder, and validates its package.json:
 *
 *     "kubenest": { "sdk": "^1", "plugins": ["./dist/index.js"] }
 *
 * Packages of the catalog are those of this server, regardless of the folder. `integrity` is the expected result of `integrityOf`: imports
 * of this thread then execute only files of the package that have it. Throws an Error that names the package and the problem.
 */
export function findPluginPackage(name: string, folder: string, integrity?: string): PluginPackage {
  const file = manifestOf(name, folder);
  const text = readFileSync(file);
  const manifest = JSON.parse(text.toString()) as Manifest;
  const { sdk, plugins } = manifest.kubenest ?? {};
  if (typeof sdk !== 'string' || !isStrings(plugins) || plugins.length === 0)
    throw new Error(`its package.json has no "kubenest": { "sdk": "^1", "plugins": ["./dist/index.js"] }`);
  if (semver.validRange(sdk) === null) throw new Error(`"kubenest.sdk" is ${JSON.stringify(sdk)}, expected a range such as "^1"`);
  if (!semver.satisfies(sdkVersion, sdk))
    throw new Error(`requires version ${sdk} of kubenest/sdk, but this server provides ${sdkVersion}`);
  const root = dirname(file);
  const modules = plugins.map((path) => join(root, path));
  const missing = modules.find((path) => !path.startsWith(root + sep) || !existsSync(path));
  if (missing !== undefined) throw new Error(`missing file ${relative(root, missing)}: build the package first`);
  if (integrity !== undefined) {
    const files = verifyPackage(root, integrity);
    if (files.digests.get(realpathSync(file)) !== fileDigest(text)) throw new Error('integrity mismatch: package.json has changed');
    importOnly(files);
  }
  const ownName = typeof manifest.name === 'string' && !name.startsWith(catalogPrefix) ? manifest.name : name;
  return { name: ownName, version: typeof manifest.version === 'string' ? manifest.version : '', folder: root, modules };
}

function manifestOf(name: string, folder: string): string {
  if (name.startsWith(catalogPrefix)) return catalogManifestOf(name.slice(catalogPrefix.length));
  try {
    const file =
      name.startsWith('.') || name.startsWith('/')
        ? resolve(folder, name, 'package.json')
        : findPackageJSON(name, pathToFileURL(`${folder}/`));
    if (file !== undefined && existsSync(file)) return file;
  } catch {
    // The error below reports the failure.
  }
  throw new Error(`not installed in ${folder} or its parents`);
}

function catalogManifestOf(name: string): string {
  const catalog = join(ownFolder(), 'dist/catalog');
  const names = existsSync(catalog) ? readdirSync(catalog).sort() : [];
  if (names.includes(name)) return join(catalog, name, 'package.json');
  throw new Error(`unknown package of the catalog (available: ${names.join(', ')})`);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
