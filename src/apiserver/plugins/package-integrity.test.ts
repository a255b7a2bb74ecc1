import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Contribution, contribute } from './contribute.ts';
import { loadPlugins } from './load-plugins.ts';
import { archiveIntegrity, unpackArchive } from './package-archive.ts';
import { integrityOf } from './package-integrity.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-integrity-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const files: Readonly<Record<string, string>> = {
  'node_modules/team/package.json': JSON.stringify({
    name: 'team',
    version: '1.0.0',
    dependencies: { direct: '1' },
    optionalDependencies: { absent: '1' },
    peerDependencies: { kubenest: '1' },
  }),
  'node_modules/team/index.js': 'export {};',
  'node_modules/direct/package.json': JSON.stringify({ name: 'direct', version: '1.0.0', dependencies: { indirect: '1' } }),
  'node_modules/direct/index.js': 'export {};',
  'node_modules/indirect/package.json': JSON.stringify({ name: 'indirect', version: '1.2.3', dependencies: { direct: '1' } }),
  'node_modules/indirect/lib/index.js': 'export {};',
  'node_modules/other/package.json': JSON.stringify({ name: 'other', version: '1.0.0' }),
};

async function write(all: Readonly<Record<string, string>>, root = folder): Promise<void> {
  for (const [path, text] of Object.entries(all)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const team = (): string => join(folder, 'node_modules/team');

it.each(Object.keys(files).map((path) => [path, !path.includes('/other/')] as const))(
  'a change of %s changes the integrity: %s',
  async (path, isCovered) => {
    await write(files);
    const before = integrityOf(team());
    await appendFile(join(folder, path), ' ');
    expect(integrityOf(team()) !== before).toBe(isCovered);
  },
);

it('does not depend on where the dependencies are installed', async () => {
  await write(files);
  const flat = integrityOf(team());
  const nested = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.replace(/node_modules\/(?!team)/, 'node_modules/team/node_modules/'), text]),
  );
  await rm(join(folder, 'node_modules'), { recursive: true });
  await write(nested);
  expect(integrityOf(team())).toBe(flat);
});

it('refuses a missing dependency and a symbolic link', async () => {
  await write(files);
  await rm(join(folder, 'node_modules/indirect'), { recursive: true });
  expect(() => integrityOf(team())).toThrow('indirect, on which direct depends, is not installed');
  await write(files);
  await symlink('index.js', join(team(), 'link.js'));
  expect(() => integrityOf(team())).toThrow('link.js is a symbolic link');
});

const source = `
import { AdmissionPlugin, contribute } from 'kubenest/sdk';
import { text } from './${'long-'.repeat(30)}folder/text.js';
class Team { validate() { return text; } }
AdmissionPlugin({ name: 'Team', match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
export default contribute(Team);
`;

/** Writes an archive as npm does, and returns its name. */
async function packed(name: string, ...options: readonly string[]): Promise<string> {
  execFileSync('tar', ['-czf', name, ...(options.length > 0 ? options : ['--format=pax', 'package'])], { cwd: folder });
  return `./${name}`;
}

it('loads an archive, verifies its integrity, and gives it a folder of its own', async () => {
  const manifest = { name: 'team', version: '2.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await write({
    'package/package.json': JSON.stringify(manifest),
    'package/index.js': source.replace('kubenest/sdk', './sdk.js'),
    'package/sdk.js': 'export const { AdmissionPlugin, contribute } = globalThis.sdkOfTest;',
    [`package/${'long-'.repeat(30)}folder/text.js`]: 'export const text = undefined;',
  });
  const { AdmissionPlugin } = await import('#apiserver/admission/admission-plugin');
  Object.assign(globalThis, { sdkOfTest: { AdmissionPlugin, contribute, Contribution } });
  const archive = await packed('team-2.0.0.tgz');
  const integrity = archiveIntegrity(join(folder, archive));
  const [loaded] = await loadPlugins([{ package: archive, integrity }], folder);
  expect(loaded?.origin).toMatchObject({ package: 'team', version: '2.0.0', integrity });
  await expect(loadPlugins([{ package: archive, integrity: `sha512-${'A'.repeat(86)}==` }], folder)).rejects.toThrow(
    `plugin package ./team-2.0.0.tgz: integrity mismatch: the archive has ${integrity}`,
  );
});

it.each<[problem: string, options: readonly string[]]>([
  ['package/link.js in the archive is neither a file nor a folder', ['package']],
  [
    '"package/../../escaped.js" in the archive is outside of its folder',
    ['--transform=s,package/a.js,package/../../escaped.js,', '-P', 'package/a.js'],
  ],
  ['"/package//etc" in the archive is outside of its folder', ['--transform=s,package/a.js,/package//etc,', '-P', 'package/a.js']],
])('refuses an archive: %s', async (problem, options) => {
  await write({ 'package/a.js': '' });
  await symlink('/etc/passwd', join(folder, 'package/link.js'));
  const archive = await packed('wrong.tgz', ...options);
  expect(() => unpackArchive(archive, folder, undefined)).toThrow(problem);
  expect(existsSync(join(tmpdir(), 'escaped.js'))).toBe(false);
});

it('refuses what is not an archive', async () => {
  await write({ 'text.tgz': 'text' });
  expect(() => unpackArchive('text.tgz', folder, undefined)).toThrow('the archive cannot be unpacked: incorrect header check');
  expect(() => unpackArchive('none.tgz', folder, undefined)).toThrow('none.tgz: there is no such file or folder');
});
