// Generates the reference pages of flags and of admission plugins (from the decorators and doc comments of their classes).
// `--check` only compares.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Loads the lists behind the pages. Node does not support decorators, so the modules are bundled first. */
async function loadLists() {
  // Inside the project, so that packages can be resolved.
  const folder = mkdtempSync(join(root, '.reference-pages-'));
  try {
    const bundle = await rolldown({
      cwd: root,
      input: { plugins: 'scripts/admission-plugin-list.ts', flags: 'src/cmd/options/help.ts' },
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
    // Modules read their tables from their own folder.
    for (const tables of ['src/cmd/options', 'src/apimachinery/meta/schema', 'src/kubernetes/schema'])
      for (const file of readdirSync(join(root, tables)))
        if (file.endsWith('.gen.json')) cpSync(join(root, tables, file), join(folder, file));
    const load = (name) => import(pathToFileURL(join(folder, `${name}.js`)).href);
    const { admissionPluginList } = await load('plugins');
    const { describedFlags } = await load('flags');
    return { plugins: admissionPluginList(join(root, 'src/cmd/options')), flags: describedFlags('kubenest serve') };
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

/** One table for each section of --help. */
function renderFlags(flags) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  const sections = [...new Set(flags.map(({ section }) => section))].map((section) => [
    `## ${section}`,
    '',
    line(['flag', 'type', 'default', 'meaning']),
    line(['---', '---', '---', '---']),
    ...flags
      .filter((flag) => flag.section === section)
      .map(({ name, type, default: text, description, acts }) =>
        line([`\`--${name}\`${acts ? '' : ' *'}`, type, text === undefined ? '' : `\`${text}\``, description]),
      ),
    '',
  ]);
  return [
    '# List of flags',
    '',
    'The flags of `kubenest serve`, as `--help` shows them; [flags.md](flags.md) lists where their meaning differs from upstream. Flags with',
    '`*` are accepted and have no effect. `npm run plugins-page` generates this page.',
    '',
    ...sections.flat(),
  ].join('\n');
}

const { plugins, flags } = await loadLists();
const pages = {
  'docs/reference/admission-plugins.md': render(plugins, readSummaries()),
  'docs/reference/flag-list.md': renderFlags(flags),
};
for (const [page, text] of Object.entries(pages)) {
  const file = join(root, page);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${page} is outdated: run npm run plugins-page`);
    process.exitCode = 1;
  }
}
