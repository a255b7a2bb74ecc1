// Builds dist/: bundles src and plugins into a few files that start fast, and copies the tables that are read at run time.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { buildCatalog } from './build-catalog.mjs';
import { nodeCheckFile, nodeCheckText, stubText } from './entry-stubs.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const started = new Date();
/** True for test helpers, which load the test runner that they run in. */
const waitsForRunner = (name) => name.startsWith('src/sdk/testing/');
/** Lists the bundled packages, for scripts/pack.mjs. */
const bundledFile = 'bundled.json';
/** Temporary folder beside the old build, which replaces it atomically. */
const draft = join(root, `.build-${process.pid}`);
const out = join(draft, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Entry points of processes and threads. */
const mains = [
  'src/cmd/main',
  'src/apiserver/serving/workers/transport-worker',
  'src/apiserver/base/regexp-worker',
  'src/apiserver/endpoints/yaml/yaml-worker',
  'src/apiserver/plugins/isolation/plugin-worker-thread',
  'plugins/storage/embedded/commit-worker',
  'plugins/storage/embedded/checkpoint-worker',
];
/** Modules that packages import. */
const exported = Object.values(manifest.exports).flatMap((target) => target.default?.match(/^\.\/dist\/(.*)\.js$/)?.[1] ?? []);
/** Returns the name of a module in the bundle, beside the stub with the module's own name. */
const moduleBehind = (name) => `${name}.bundle`;
/** Optional packages, loaded by Nest and by tests if they are installed. */
const optional =
  /^(vitest|@kubernetes\/client-node|@nestjs\/(websockets|microservices)(\/.*)?|class-transformer\/storage|pino-pretty|bufferutil|utf-8-validate)$/;

/** Replaces import.meta.url, by which modules locate files, with the position of their source in dist. */
const placeOfSource = {
  name: 'place-of-source',
  transform(code, id) {
    if (!id.startsWith(root + sep) || id.includes(`${sep}node_modules${sep}`) || !code.includes('import.meta.url')) return undefined;
    const place = relative(root, id).split(sep).join('/').replace(/\.ts$/, '.js');
    return { code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, kubenestDist).href`) };
  },
};

/**
 * CommonJS entries of packages that are required as functions: bundled as modules, they would be objects with a default export.
 * `checkRequired` finds further ones.
 */
const requiredAsFunctions = {
  'async-function': 'index.js',
  'async-generator-function': 'index.js',
  'generator-function': 'index.js',
  'is-promise': 'index.js',
  long: 'umd/index.js',
};

/** Throws if code requires a module that has only a default export. */
const checkRequired = {
  name: 'check-required',
  generateBundle(_options, bundle) {
    for (const { code = '', fileName } of Object.values(bundle)) {
      const onlyDefault = [...code.matchAll(/var (\w+_exports) = .*__exportAll\(\{ default: \(\) => [\w$]+ \}\)/g)].map(([, name]) => name);
      const wrong = onlyDefault.find((name) => code.includes(`__toCommonJS(${name})`));
      if (wrong) throw new Error(`${fileName}: ${wrong} is required, but it has only a default export: add it to requiredAsFunctions`);
    }
  },
};

/** Exports node:http without the exports from undici, which would take 20 ms to load at each start. */
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

/** Escapes non-ASCII characters. V8 stores a source with a character beyond Latin-1 as two-byte text; escapes save 5 MB. */
const ascii = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      // After a backslash or in a raw template, an escape would change the text.
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

/** Writes the stubs of the exports. Returns the folders of the bundled packages, relative to the checkout. */
function finish(chunks, catalogModules) {
  writeFileSync(join(out, nodeCheckFile), nodeCheckText(manifest.engines.node.replace('>=', '')));
  for (const name of exported) {
    const { fileName, exports } = chunks.find((chunk) => chunk.isEntry && chunk.name === moduleBehind(name));
    writeFileSync(join(out, `${name}.js`), stubText(`${name}.js`, fileName, exports, waitsForRunner(name)));
  }
  const ids = [...chunks.flatMap(({ moduleIds }) => moduleIds), ...catalogModules];
  const modules = ids.map((id) => relative(root, id).split(sep).join('/'));
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
        ...Object.fromEntries(Object.entries(requiredAsFunctions).map(([name, entry]) => [name, join(root, 'node_modules', name, entry)])),
        // Uses their individual modules instead of the complete CommonJS bundle.
        'class-validator': join(root, 'node_modules/class-validator/esm2015/index.js'),
        // Excludes its upload interceptors.
        '@nestjs/platform-express': join(root, 'node_modules/@nestjs/platform-express/adapters/index.js'),
      },
    },
    transform: { decorator: { legacy: true, emitDecoratorMetadata: true }, target: 'node24' },
    plugins: [placeOfSource, httpWithoutUndici, checkRequired, ascii],
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
    // Matches the last folder with this name, because the package may be installed inside another one.
    intro: `const kubenestDist = import.meta.url.replace(/\\/dist\\/(?!.*\\/dist\\/).*$/, '/dist/');`,
  });
  await bundle.close();
  copyTables('src');
  const catalogModules = await buildCatalog(root, join(out, 'catalog'));
  const packages = finish(
    output.filter(({ type }) => type === 'chunk'),
    catalogModules,
  );
  writeFileSync(join(out, bundledFile), JSON.stringify(packages));
  writeFileSync(join(out, '.built'), '');
  // The timestamp records which sources the build has read; later changes are newer.
  utimesSync(join(out, '.built'), started, started);
  const place = join(root, 'dist');
  if (existsSync(place)) {
    // Types are built and dated separately (scripts/build-types.mjs).
    if (existsSync(join(place, 'types'))) renameSync(join(place, 'types'), join(out, 'types'));
    renameSync(place, join(draft, 'old'));
  }
  renameSync(out, place);
} finally {
  rmSync(draft, { recursive: true, force: true });
}
