import { createHash, type Hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileDigest, type VerifiedFiles } from './verified-modules.ts';

interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns `sha512-` and a digest of the files of a package and of all packages on which it depends, as they are installed:
 *
 *     path \0 content \0 …                      each file of the package, in the UTF-16 order of the paths (with slashes)
 *     \0 name@version \0 path \0 content \0 …   each dependency, direct or not, in the order of name, version and content
 *
 * The digest does not depend on where npm places the dependencies. `kubenest` itself, optional dependencies and peers that are not
 * installed, and packages that no package.json of these names are not part of it. Throws for a missing dependency and for a symbolic link
 * in a package.
 */
export function integrityOf(folder: string): string {
  return readPackage(folder).integrity;
}

/** Returns the files of a package and its dependencies. Throws if they do not have the integrity. */
export function verifyPackage(folder: string, expected: string): VerifiedFiles {
  const { integrity, files } = readPackage(folder);
  if (integrity !== expected) throw new Error(`integrity mismatch: the files have ${integrity}`);
  return files;
}

/** Reads each file once, so that the digests of the files are those of the content that has the integrity. */
function readPackage(folder: string): { readonly integrity: string; readonly files: VerifiedFiles } {
  const root = realpathSync(folder);
  const digests = new Map<string, string>();
  const hash = addFiles(createHash('sha512'), root, digests);
  const folders = [...dependenciesOf(root)];
  const dependencies = folders.map((dependency) => {
    const { name, version } = manifestOf(dependency);
    return `${String(name)}@${String(version)}\0${addFiles(createHash('sha512'), dependency, digests).digest('base64')}`;
  });
  for (const dependency of [...new Set(dependencies)].sort()) hash.update(`\0${dependency}`);
  return { integrity: `sha512-${hash.digest('base64')}`, files: { folders: [root, ...folders], digests } };
}

/** Adds the files of a package to a hash, and their own digests to `digests`. */
function addFiles(hash: Hash, folder: string, digests: Map<string, string>): Hash {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => ({ entry, path: relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/') }))
    .filter(({ path }) => !path.split('/').includes('node_modules'));
  const link = entries.find(({ entry }) => entry.isSymbolicLink());
  if (link) throw new Error(`${link.path} is a symbolic link, whose target \`integrity\` does not cover`);
  const paths = entries.filter(({ entry }) => entry.isFile()).map(({ path }) => path);
  for (const path of paths.sort()) {
    const file = join(folder, path);
    const content = readFileSync(file);
    digests.set(file, fileDigest(content));
    hash.update(`${path}\0`).update(content).update('\0');
  }
  return hash;
}

/** Returns the real folders of all packages on which a package depends, directly or not. */
function dependenciesOf(root: string): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifestOf(folder);
    for (const name of new Set([dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys))) {
      if (name === 'kubenest') continue;
      const installed = installedFolder(name, folder);
      if (installed !== undefined && !found.has(installed)) {
        found.add(installed);
        pending.push(installed);
      }
      const isOptional = name in optionalDependencies || name in peerDependencies;
      if (installed === undefined && !isOptional)
        throw new Error(`${name}, on which ${String(manifestOf(folder).name)} depends, is not installed`);
    }
  }
  found.delete(root);
  return found;
}

/** Looks for a package as `import` does: in the folders `node_modules` of a folder and its parents. */
function installedFolder(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
