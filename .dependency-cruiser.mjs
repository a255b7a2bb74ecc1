// The table of docs/internals/architecture.md: apimachinery <- apiserver <- {apiextensions-apiserver, kubernetes, kube-aggregator} <- cmd.
const servers = ['apiextensions-apiserver', 'kubernetes', 'kube-aggregator'];
const own = '^(src|plugins|test)/';

/** The folders of src/apiserver, lower floors first: a floor imports itself and the floors below it, types included. */
const floors = [
  'base',
  'network',
  'request',
  'serving',
  'authentication',
  'authorization',
  'impersonation',
  'audit',
  'flowcontrol',
  'tracing',
  'cel',
  'storage',
  'registry',
  'admission',
  'endpoints',
  'server',
  'controllers',
  'plugins',
];

/** A layer may import what its pattern names, Node and packages; its tests see what they test with, too. */
const layer = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$' },
  to: { path: own, pathNot: allowed },
});

export default {
  forbidden: [
    layer('apimachinery-knows-itself', '^src/apimachinery/', '^src/apimachinery/', 'L0: pure data and algorithms'),
    layer('apiserver-knows-apimachinery', '^src/apiserver/', '^src/(apimachinery|apiserver)/', 'L1: the generic server knows no API group'),
    ...servers.map((server) =>
      layer(
        `${server}-knows-no-other-server`,
        `^src/${server}/`,
        `^src/(apimachinery|apiserver|${server})/`,
        'L2: they meet as delegation targets',
      ),
    ),
    layer(
      'sdk-shows-contracts',
      '^src/sdk/',
      '^src/((apimachinery|apiserver|sdk)/|kubernetes/schema/[^/]+\\.gen\\.ts$)',
      'what plugins see comes from L0 and L1, and the published types',
    ),
    layer(
      'plugins-know-the-sdk',
      '^plugins/([^/]+/)',
      '^(src/sdk/|src/kubernetes/(schema/[^/]+|kinds)\\.gen\\.ts$|plugins/(common/|$1))',
      'a built-in plugin is written like a package of somebody else',
    ),
    {
      name: 'built-in-plugins-take-types-of-kinds',
      comment: 'the server starts without the table of all kinds',
      severity: 'error',
      from: { path: '^plugins/(admission|authentication|authorization|common|controllers)/' },
      to: { path: '^src/kubernetes/kinds\\.gen\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    layer('testing-knows-cmd', '^src/testing/', '^(src|plugins)/', 'the test server is a server'),
    layer('src-knows-no-tests', '^src/(?!.*\\.test\\.ts$)', '^(src|plugins)/', 'what runs does not need tests'),
    ...floors.map((floor, i) =>
      layer(
        `apiserver-floor-${floor}`,
        `^src/apiserver/${floor}/`,
        `^src/(apimachinery/|apiserver/(${floors.slice(0, i + 1).join('|')})/)`,
        'L1: a floor knows itself and the floors below it',
      ),
    ),
    {
      name: 'apiserver-has-no-other-floors',
      severity: 'error',
      from: {},
      to: { path: '^src/apiserver/', pathNot: `^src/apiserver/(${floors.join('|')})/` },
    },
    {
      name: 'only-cmd-knows-plugins',
      comment: 'everything else gets them through the registry',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(cmd|testing)/', '\\.test\\.ts$'] },
      to: { path: '^plugins/' },
    },
    {
      name: 'plugins-decorate-by-the-sdk',
      comment: 'kubenest/sdk and kubenest/sdk/configuration re-export them',
      severity: 'error',
      from: { path: '^plugins/', pathNot: '\\.test\\.ts$' },
      to: { path: '^node_modules/(class-validator|class-transformer|inversify|reflect-metadata|@nestjs)/' },
    },
    {
      name: 'apimachinery-does-no-io',
      comment: 'no Nest, no files, no sockets',
      severity: 'error',
      from: { path: '^src/apimachinery/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '(^node_modules/(@nestjs|inversify|express)/)|^(node:)?(http|http2|https|net|tls|child_process|worker_threads|dgram|dns|cluster)$',
      },
    },
    {
      name: 'inversify-in-plugins-and-cmd',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(apiserver/plugins|cmd|sdk)/' },
      to: { path: '^node_modules/inversify/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: { pathNot: '\\.gen\\.ts$' },
      to: { circular: true },
    },
    { name: 'nothing-is-missing', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['kubenest-source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
    exclude: { path: '^plugins/example/' },
    doNotFollow: { path: 'node_modules' },
    builtInModules: { add: ['node:sqlite'] },
  },
};
