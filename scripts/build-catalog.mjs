// Builds the packages of plugins/catalog: each is bundled into one module, with its dependencies and without the SDK.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Writes each package to a folder `out/NAME`, from which the server loads `kubenest/catalog/NAME`. Returns the ids of the bundled modules.
 */
export async function buildCatalog(root, out) {
  const names = globSync('plugins/catalog/*/package.json', { cwd: root }).map((file) => dirname(file).split('/').at(-1));
  const modules = await Promise.all(names.toSorted().map((name) => buildPackage(root, name, join(out, name))));
  return modules.flat();
}

async function buildPackage(root, name, out) {
  const folder = join(root, 'plugins/catalog', name);
  const bundle = await rolldown({
    cwd: folder,
    input: 'src/index.ts',
    platform: 'node',
    external: /^kubenest\//,
    transform: { decorator: { legacy: true }, target: 'node24' },
    onLog(level, log, handler) {
      if (level === 'warn') return;
      handler(level, log);
    },
  });
  const { output } = await bundle.write({ file: join(out, 'dist/index.js'), format: 'esm', keepNames: true });
  await bundle.close();
  // The dependencies are in the bundle.
  const { dependencies: _, private: _private, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}
