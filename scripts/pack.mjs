// npm run pack: assembles the self-contained package in its own folder and runs npm pack. Arguments are passed to npm pack,
// except
// --repository=URL, which is written to the manifest.
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTypes } from './package-types.mjs';
import { publishManifest } from './publish-manifest.mjs';
import { sbomText } from './sbom.mjs';
import { noticesText } from './third-party-notices.mjs';
import { npm, root, writeTypesIfStale } from './toolchain.mjs';

const copied = ['bin', 'config', 'docs', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'];
/** Files of dist that are machine-specific or regenerated here. */
const aside = ['.built', '.compile-cache', 'bundled.json', 'types'];
const repositoryFlag = '--repository=';

const folder = join(root, `.build-${process.pid}-package`);
const [ours, forNpm] = partition(process.argv.slice(2), (arg) => arg.startsWith(repositoryFlag));
try {
  writeTypesIfStale(process.execPath);
  makePackage(ours.at(-1)?.slice(repositoryFlag.length));
  npm(['pack', folder, '--ignore-scripts', ...forNpm]);
} catch (error) {
  console.error(`pack: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function makePackage(repository) {
  mkdirSync(folder);
  // The packages of the catalog are in dist; the guide links to their pages.
  const ofCatalog = globSync('plugins/catalog/*/{README.md,tests}', { cwd: root });
  for (const path of [...copied, ...ofCatalog]) cpSync(join(root, path), join(folder, path), { recursive: true });
  for (const entry of readdirSync(join(root, 'dist')))
    if (!aside.includes(entry)) cpSync(join(root, 'dist', entry), join(folder, 'dist', entry), { recursive: true });
  const manifest = publishManifest(readJson('package.json'), repository);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const typed = copyTypes(root, folder, Object.values(manifest.exports).flatMap(declarationsOf));
  const packages = [...new Set([...readJson('dist/bundled.json'), ...typed])].toSorted();
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomText(root, packages));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesText(root, packages));
}

/** Returns the declaration files of an entry in `exports`. */
function declarationsOf({ types }) {
  if (types === undefined) return [];
  const [before, after] = types.replace('./', '').split('*');
  if (after === undefined) return [before];
  const parent = before.slice(0, before.lastIndexOf('/'));
  return readdirSync(join(root, parent)).flatMap((name) => (name.endsWith(after) ? `${parent}/${name}` : []));
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function partition(list, test) {
  return [list.filter(test), list.filter((item) => !test(item))];
}
