// Generates the software bill of materials of the package: CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/). The build
// writes it to dist, and the package contains it. It depends only on the lock file and the names of the bundled packages, so
// it is reproducible.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the document for a manifest (package.json) and its lock file (version 3): the runtime packages and their
 * dependencies. `bundled` lists the paths of bundled packages, if that is a subset.
 */
export function sbomOf(manifest, lock, bundled) {
  const isBundled = ([path]) => path === '' || bundled === undefined || bundled.includes(path);
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(isBundled));
  const component = {
    type: 'application',
    ...identityOf(manifest.name, manifest),
    description: manifest.description,
  };
  const libraries = Object.entries(packages).filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link);
  const components = new Map(libraries.map(([path, locked]) => [refOf(nameOf(path), locked), libraryOf(nameOf(path), locked)]));
  const dependencies = new Map([[component['bom-ref'], needsOf('', packages)]]);
  for (const [path, locked] of libraries) {
    const ref = refOf(nameOf(path), locked);
    dependencies.set(ref, [...new Set([...(dependencies.get(ref) ?? []), ...needsOf(path, packages)])]);
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component },
    components: sorted(components).map(([, library]) => library),
    dependencies: sorted(dependencies).map(([ref, needs]) => ({ ref, dependsOn: needs.toSorted() })),
  };
}

/** Returns the text of a checkout's document. */
export function sbomText(root, bundled) {
  const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  return `${JSON.stringify(sbomOf(read('package.json'), read('package-lock.json'), bundled), undefined, 2)}\n`;
}

function libraryOf(name, locked) {
  return {
    type: 'library',
    ...identityOf(name, locked),
    scope: locked.optional ? 'optional' : 'required',
    ...(locked.integrity ? { hashes: locked.integrity.split(' ').map(hashOf) } : {}),
  };
}

function identityOf(name, { version, license }) {
  return {
    'bom-ref': refOf(name, { version }),
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license ? { licenses: [licenseOf(license)] } : {}),
  };
}

const refOf = (name, { version }) => `${name}@${version}`;

/** Returns the package name at the end of a lock file path. */
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

const sorted = (map) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Returns an SPDX identifier or expression. */
const licenseOf = (text) => (/\s(OR|AND|WITH)\s/.test(text) ? { expression: text } : { license: { id: text } });

/** Converts an `integrity` value (W3C Subresource Integrity, base64) to hex. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split(/-(.*)/s);
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}

/** Returns the references of a package's runtime dependencies. */
function needsOf(path, packages) {
  const { dependencies, optionalDependencies, peerDependencies } = packages[path];
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).flatMap((name) => {
    const place = placesFrom(path, name).find((one) => packages[one]);
    const found = place === undefined ? undefined : packages[place];
    return found && !found.dev && !found.link ? refOf(name, found) : [];
  });
}

/** Returns the paths at which Node looks for a package from another one, nearest first. */
function placesFrom(path, name) {
  const places = [];
  for (let folder = path; folder !== ''; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/'))))
    places.push(`${folder}/node_modules/${name}`);
  return [...places, `node_modules/${name}`];
}
