// Generates the package.json of the self-contained package from that of the checkout, without the bundled dependencies.

/** Required only by types and test helpers, whose users have installed them. */
const peers = ['@kubernetes/client-node', '@types/node', 'vitest'];

/**
 * Returns the package's manifest. `repository` is the source URL, which npm compares with the build origin before it accepts
 * a provenance statement.
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
