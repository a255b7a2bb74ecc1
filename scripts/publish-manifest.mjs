// The package.json of the package: what the checkout's says of a package that stands alone. The bundle has the dependencies in it.

/** Needed by types and helpers of tests alone; who uses these has them. */
const peers = ['@kubernetes/client-node', '@types/node', 'vitest'];

/**
 * Returns the manifest of the package for that of the checkout. `repository`: the URL of the sources, which npm compares with where the
 * package was built before it takes a statement of provenance.
 */
export function publishManifest({ name, version, description, license, type, engines, bin, exports, devDependencies }, repository) {
  return {
    name,
    version,
    description,
    keywords: ['kubernetes', 'kube-apiserver', 'envtest', 'admission', 'testing'],
    license,
    ...(repository === undefined ? {} : { repository: { type: 'git', url: repository } }),
    type,
    engines,
    bin,
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([path, target]) => [path, withoutSource(target)])),
      './package.json': './package.json',
    },
    peerDependencies: Object.fromEntries(peers.map((peer) => [peer, `>=${major(devDependencies[peer])}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
    publishConfig: { access: 'public', provenance: true, ...(version.includes('-') ? { tag: 'next' } : {}) },
  };
}

const withoutSource = ({ 'kubenest-source': _, ...target }) => target;
const major = (version) => version.split('.')[0];
