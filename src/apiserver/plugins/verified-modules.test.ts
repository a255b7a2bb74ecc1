import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPlugins } from './load-plugins.ts';
import { integrityOf } from './package-integrity.ts';
import { findPluginPackage } from './plugin-package.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'kubenest-verified-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const manifest = { name: 'team', version: '1.0.0', type: 'module', dependencies: { declared: '1' } };
const files = {
  'node_modules/team/index.js': `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    export const ways = {
      'lib/lazy.js': async () => (await import('./lib/lazy.js?once')).default,
      'lib/data.json': async () => (await import('./lib/data.json', { with: { type: 'json' } })).default,
      'lib/required.cjs': () => require('./lib/required.cjs'),
      'lib/required.json': () => require('./lib/required.json'),
      'lib/addon.node': () => require('./lib/addon.node'),
      'node_modules/extra.mjs': async () => (await import('./node_modules/extra.mjs')).default,
      '../declared/main.js': async () => (await import('declared')).default,
      '../declared/inner.js': async () => (await import('declared')).default,
      '../undeclared/index.js': async () => (await import('undeclared')).default,
      '../../outside.cjs': () => require('../../outside.cjs'),
    };`,
  'node_modules/team/lib/lazy.js': 'export default 1;',
  'node_modules/team/lib/data.json': '1',
  // Not UTF-8, after a byte order mark.
  'node_modules/team/lib/required.cjs': Buffer.from('\ufeffmodule.exports = 1; // \ufffd').subarray(0, -1),
  'node_modules/team/lib/required.json': '1',
  'node_modules/team/lib/addon.node': 'not an addon',
  'node_modules/team/node_modules/extra.mjs': 'export default 1;',
  'node_modules/declared/package.json': JSON.stringify({ name: 'declared', version: '1.0.0', main: 'main.js' }),
  'node_modules/declared/main.js': 'module.exports = require("./inner");',
  'node_modules/declared/inner.js': 'module.exports = 1;',
  'node_modules/undeclared/package.json': JSON.stringify({ name: 'undeclared', version: '1.0.0', type: 'module', exports: './index.js' }),
  'node_modules/undeclared/index.js': 'export default 1;',
  'outside.cjs': 'module.exports = 1;',
};

let count = 0;

/** Installs the package in a folder of its own, where no module has been loaded. */
async function installed(entry = './index.js'): Promise<string> {
  const folder = join(root, `${(count += 1)}`);
  const all = { ...files, 'node_modules/team/package.json': JSON.stringify({ ...manifest, kubenest: { sdk: '^1', plugins: [entry] } }) };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

type Ways = Readonly<Record<string, () => unknown>>;

/** Finds the package and imports its entry, as the server does. */
async function waysOf(folder: string, integrity?: string): Promise<Ways> {
  const { modules } = findPluginPackage('team', folder, integrity);
  return ((await import(pathToFileURL(modules[0]!).href)) as { readonly ways: Ways }).ways;
}

const team = (folder: string): string => join(folder, 'node_modules/team');
const outcomeOf = async (way: (() => unknown) | undefined): Promise<unknown> => {
  try {
    return await way?.();
  } catch (error) {
    return (error as Error).message;
  }
};

it.each([
  ['lib/lazy.js', 1],
  ['lib/data.json', 1],
  ['lib/required.cjs', 1],
  ['lib/required.json', 1],
  ['lib/addon.node', expect.stringMatching(/file too short|invalid ELF header|not a mach-o|not valid/i)],
  ['../declared/main.js', 1],
  ['../declared/inner.js', 1],
])('%s of a package with integrity is loaded, and refused if it changed after the start', async (path, expected) => {
  const unchanged = await installed();
  const before = await waysOf(unchanged, integrityOf(team(unchanged)));
  expect(await outcomeOf(before[path])).toEqual(expected);
  const folder = await installed();
  const ways = await waysOf(folder, integrityOf(team(folder)));
  await appendFile(join(team(folder), path), '\n');
  expect(await outcomeOf(ways[path])).toBe(`${join(team(folder), path)} has changed since its \`integrity\` was verified`);
});

it('refuses an entry that changes between its verification and its import', async () => {
  const folder = await installed();
  const { modules } = findPluginPackage('team', folder, integrityOf(team(folder)));
  await appendFile(modules[0]!, '\n');
  await expect(import(pathToFileURL(modules[0]!).href)).rejects.toThrow('index.js has changed since its `integrity` was verified');
});

it('refuses an entry that the integrity does not cover', async () => {
  const folder = await installed('./node_modules/extra.mjs');
  await expect(loadPlugins([{ package: 'team', integrity: integrityOf(team(folder)) }], folder)).rejects.toThrow(
    `plugin package team: node_modules/extra.mjs: ${join(team(folder), 'node_modules/extra.mjs')} is not covered by \`integrity\``,
  );
});

it.each(['node_modules/extra.mjs', '../undeclared/index.js', '../../outside.cjs'])(
  'a package with integrity does not load %s, which is not part of it',
  async (path) => {
    const folder = await installed();
    const ways = await waysOf(folder, integrityOf(team(folder)));
    expect(await outcomeOf(ways[path])).toContain(`${join(team(folder), path)} is not covered by \`integrity\``);
  },
);

it('a file that is new since the verification is not loaded', async () => {
  const folder = await installed();
  await rm(join(team(folder), 'lib/lazy.js'));
  const ways = await waysOf(folder, integrityOf(team(folder)));
  await writeFile(join(team(folder), 'lib/lazy.js'), 'export default 1;');
  expect(await outcomeOf(ways['lib/lazy.js'])).toBe(`${join(team(folder), 'lib/lazy.js')} is not covered by \`integrity\``);
});

it('a package without integrity loads all files as they are', async () => {
  const folder = await installed();
  const ways = await waysOf(folder);
  const paths = Object.keys(ways).filter((path) => path !== 'lib/addon.node');
  for (const path of paths) await appendFile(join(team(folder), path), '\n');
  expect(await Promise.all(paths.map((path) => outcomeOf(ways[path])))).toEqual(paths.map(() => 1));
});
