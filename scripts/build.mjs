// Builds dist/: src and plugins bundled into a few files that start fast, and the tables that are read at run time.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { nodeCheckFile, nodeCheckText, stubText } from './entry-stubs.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const started = new Date();
/** True for helpers of tests, which load the test runner that they are in. */
const waitsForRunner = (name) => name.startsWith('src/sdk/testing/');
/** Names the packages that are in the bundle, for scripts/pack.mjs. */
const bundledFile = 'bundled.json';
/** Written beside the old one, and put in its place whole. */
const draft = join(root, `.build-${process.pid}`);
const out = join(draft, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Modules with which a process or a thread begins. */
const mains = [
  'src/cmd/main',
  'src/apiserver/serving/workers/transport-worker',
  'src/apiserver/endpoints/yaml/yaml-worker',
  'plugins/storage/embedded/commit-worker',
  'plugins/storage/embedded/checkpoint-worker',
];
/** Modules that packages import. */
const exported = Object.values(manifest.exports).flatMap((target) => target.default?.match(/^\.\/dist\/(.*)\.js$/)?.[1] ?? []);
/** The name of a module in the bundle, beside the stub that has the module's own name. */
const moduleBehind = (name) => `${name}.bundle`;
/** Packages that are asked for only if they are there: by Nest, and by tests, which have them. */
const optional =
  /^(vitest|@kubernetes\/client-node|@nestjs\/(websockets|microservices)(\/.*)?|class-transformer\/storage|pino-pretty|bufferutil|utf-8-validate)$/;

/** Modules find files beside themselves by import.meta.url: in a bundle that is where their source would have been in dist. */
const placeOfSource = {
  name: 'place-of-source',
  transform(code, id) {
    if (!id.startsWith(root + sep) || id.includes(`${sep}node_modules${sep}`) || !code.includes('import.meta.url')) return undefined;
    const place = relative(root, id).split(sep).join('/').replace(/\.ts$/, '.js');
    return { code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, kubenestDist).href`) };
  },
};

/** The exports of node:http but those that come from undici: importing the module as it is loads all of that, 20 ms at each start. */
const httpWithoutUndici = {
  name: 'http-without-undici',
  resolveId: (id) => (id === 'http' || id === 'node:http' ? '\0node-http' : undefined),
  load(id) {
    if (id !== '\0node-http') return undefined;
    const fromUndici = ['CloseEvent', 'MessageEvent', 'WebSocket'];
    const names = Object.keys(http).filter((name) => !fromUndici.includes(name));
    return `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;`;
  },
};

/** V8 keeps a source with one character beyond Latin-1 in two bytes for each: written as escapes, 5 MB less. */
const ascii = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      // Behind a backslash, and in a raw template, an escape would be other text.
      if (chunk.type !== 'chunk' || /\\[\u0080-\uffff]|String\.raw`[^`]*[\u0080-\uffff]/.test(chunk.code)) continue;
      chunk.code = chunk.code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
  },
};

function copyTables(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.gen\.(json|json\.gz|bin|pb)$/.test(entry.name)) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(out, relative(root, from));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to);
  }
}

/** Writes the stubs of what packages import; returns the folders of the packages that are in the bundle, relative to the checkout. */
function finish(chunks) {
  writeFileSync(join(out, nodeCheckFile), nodeCheckText(manifest.engines.node.replace('>=', '')));
  for (const name of exported) {
    const { fileName, exports } = chunks.find((chunk) => chunk.isEntry && chunk.name === moduleBehind(name));
    writeFileSync(join(out, `${name}.js`), stubText(`${name}.js`, fileName, exports, waitsForRunner(name)));
  }
  const modules = chunks.flatMap((chunk) => chunk.moduleIds.map((id) => relative(root, id).split(sep).join('/')));
  return [...new Set(modules.flatMap((id) => id.match(/^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []))].toSorted();
}

try {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries([
      ...mains.map((name) => [name, `${name}.ts`]),
      ...exported.map((name) => [moduleBehind(name), `${name}.ts`]),
    ]),
    platform: 'node',
    external: (id, importer) => optional.test(id) || (id.startsWith('class-') && importer?.includes('@nestjs') === true),
    resolve: {
      conditionNames: ['kubenest-source', 'import', 'node', 'default'],
      alias: {
        // Their modules, of which we need a few, instead of their CommonJS bundles of all.
        'class-validator': join(root, 'node_modules/class-validator/esm2015/index.js'),
        // Without its interceptors for uploads.
        '@nestjs/platform-express': join(root, 'node_modules/@nestjs/platform-express/adapters/index.js'),
      },
    },
    transform: { decorator: { legacy: true, emitDecoratorMetadata: true }, target: 'node24' },
    plugins: [placeOfSource, httpWithoutUndici, ascii],
    onLog(level, log, handler) {
      if (level === 'warn') return;
      handler(level, log);
    },
  });
  const { output } = await bundle.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    keepNames: true,
    sourcemap: process.env['KUBENEST_SOURCEMAP'] === '1',
    // The last folder of the name: the package may stand in another one.
    intro: `const kubenestDist = import.meta.url.replace(/\\/dist\\/(?!.*\\/dist\\/).*$/, '/dist/');`,
  });
  await bundle.close();
  copyTables('src');
  const packages = finish(output.filter(({ type }) => type === 'chunk'));
  writeFileSync(join(out, bundledFile), JSON.stringify(packages));
  writeFileSync(join(out, '.built'), '');
  // Its time says what the build has seen: what was changed meanwhile is newer.
  utimesSync(join(out, '.built'), started, started);
  const place = join(root, 'dist');
  if (existsSync(place)) {
    // They have a build and an age of their own (scripts/build-types.mjs).
    if (existsSync(join(place, 'types'))) renameSync(join(place, 'types'), join(out, 'types'));
    renameSync(place, join(draft, 'old'));
  }
  renameSync(out, place);
} finally {
  rmSync(draft, { recursive: true, force: true });
}
