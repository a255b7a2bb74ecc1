// Generates docs/reference/admission-plugins.md from the decorators and doc comments of the plugin classes. `--check` only compares.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/reference/admission-plugins.md');

/** Loads the list of plugins. Node does not support decorators, so the module is bundled first. */
async function loadPlugins() {
  // Inside the project, so that packages can be resolved.
  const folder = mkdtempSync(join(root, '.admission-plugins-'));
  try {
    const bundle = await rolldown({
      cwd: root,
      input: { list: 'scripts/admission-plugin-list.ts' },
      platform: 'node',
      external: /^(@nestjs\/(websockets|microservices)(\/.*)?|class-transformer\/storage)$/,
      resolve: { conditionNames: ['kubenest-source', 'import', 'node', 'default'] },
      transform: { decorator: { legacy: true, emitDecoratorMetadata: true }, target: 'node24' },
      onLog(level, log, handler) {
        if (level !== 'warn') handler(level, log);
      },
    });
    await bundle.write({ dir: folder, format: 'esm' });
    await bundle.close();
    const { admissionPluginList } = await import(pathToFileURL(join(folder, 'list.js')).href);
    return admissionPluginList(join(root, 'src/cmd/options'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the first sentence of each class's doc comment by plugin name. */
function readSummaries() {
  const folder = join(root, 'plugins/admission');
  const summaries = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    for (const [, comment, name] of text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*@AdmissionPlugin\(\{\s*name: '(\w+)'/g)) {
      const plain = comment
        .replace(/\n\s*\* ?/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
      summaries.set(name, plain.split(/ Upstream/)[0].trim());
    }
  }
  return summaries;
}

const cell = (text) => text.replaceAll('|', '\\|');

function render(plugins, summaries) {
  const rows = plugins.map(({ name, onByDefault, phases, matches, configuration }) => [
    `\`${name}\``,
    onByDefault ? 'on' : '',
    phases.join(', '),
    matches.join('<br>'),
    configuration.map((member) => `\`${member}\``).join(', '),
    summaries.get(name) ?? '',
  ]);
  const head = ['plugin', 'by default', 'phase', 'requests', 'configuration', 'what it does'];
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [
    '# Admission plugins',
    '',
    'The built-in admission plugins in the order in which they run: all mutating plugins, then all validating ones.',
    '`--enable-admission-plugins` and `--disable-admission-plugins` select them, `--admission-control-config-file` configures them.',
    '`npm run plugins-page` generates this page.',
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map(line),
    '',
  ].join('\n');
}

const text = render(await loadPlugins(), readSummaries());
if (process.argv.includes('--check')) {
  let present = '';
  try {
    present = readFileSync(page, 'utf8');
  } catch {
    console.error('docs/reference/admission-plugins.md is missing');
  }
  if (present !== text) {
    console.error('docs/reference/admission-plugins.md is outdated: run npm run plugins-page');
    process.exit(1);
  }
} else {
  writeFileSync(page, text);
}
