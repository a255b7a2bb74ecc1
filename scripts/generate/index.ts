import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { descriptionTables, moduleCache } from './descriptions.ts';
import { metricTables } from './metrics.ts';
import { publicFiles } from './public-types.ts';
import { factTables, type GeneratedFile } from './tables.ts';
import { typeFiles } from './types.ts';

/**
 * Generates the committed tables of the API from the facts folder:
 *   node scripts/generate/index.ts [--facts ../shared/facts] [--module-cache DIR] [--check]
 * - `--check` writes nothing and exits with 1 if a committed file differs.
 * - Descriptions and metric stability levels come from the Go module k8s.io/kubernetes, names of enums in the types for packages from
 *   k8s.io/api; if they are not in the module cache, the committed files are kept.
 */
const { values: options } = parseArgs({
  options: {
    facts: { type: 'string', default: '../shared/facts' },
    'module-cache': { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});

const root = resolve(import.meta.dirname, '../..');
const facts = resolve(root, options.facts);
if (!existsSync(join(facts, 'schema/index.json'))) {
  console.error(`generate: no facts in ${options.facts} (schema/index.json is missing): specify their folder with --facts`);
  process.exit(1);
}

const files: GeneratedFile[] = [...factTables(facts), ...typeFiles(facts)];
const descriptions = descriptionTables(facts, options['module-cache']);
const metrics = metricTables(facts, options['module-cache']);
const publicTypes = descriptions && publicFiles(facts, moduleCache(options['module-cache']) ?? '', descriptions);
if (descriptions && metrics && publicTypes) files.push(...descriptions, ...metrics, ...publicTypes);
else
  console.warn(
    'generate: k8s.io/kubernetes or k8s.io/api is not in the Go module cache; keeping the committed files that are generated from them',
  );

const wanted = new Map(files.map((file) => [file.path, file.content]));
const stale = [...new Set(files.map((file) => dirname(file.path)))]
  .flatMap((folder) => (existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => `${folder}/${name}`) : []))
  .filter((path) => /\.gen\.(json|ts)$/.test(path) && !wanted.has(path));
const changed = files.filter((file) => {
  const path = join(root, file.path);
  return !existsSync(path) || readFileSync(path, 'utf8') !== file.content;
});

if (options.check) {
  for (const file of changed) console.error(`generate: ${file.path} is outdated: run npm run generate`);
  for (const path of stale) console.error(`generate: ${path} is obsolete: run npm run generate`);
  process.exit(changed.length + stale.length > 0 ? 1 : 0);
}
for (const path of stale) rmSync(join(root, path));
for (const file of changed) {
  const path = join(root, file.path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file.content);
}
console.log(`generate: ${files.length} files from ${relative(root, facts)}, ${changed.length} written, ${stale.length} removed`);
