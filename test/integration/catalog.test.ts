import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import { findPluginPackage } from '#apiserver/plugins/plugin-package';
import type { PolicyTestFile } from '#cmd/policy-tests/policy-test';
import { readPolicyTests } from '#cmd/policy-tests/read-policy-tests';
import { type PolicyTestResult, runPolicyTests } from '#cmd/policy-tests/run-policy-tests';

const root = resolve(import.meta.dirname, '../..');
const catalog = join(root, 'plugins/catalog');
const packages = (await readdir(catalog)).filter((name) => name !== 'common').sort();
const files = await readPolicyTests([catalog]);
const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;

/** Configurations of rules that have no complete default, by package. */
const configurations: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'image-signatures': { VerifyImageSignatures: { folder: '.', rules: [{ images: ['*'], keys: [publicKey] }] } },
  images: { ReplaceImageRegistry: { mirrors: [{ from: 'docker.io', to: 'mirror.example.com' }] } },
  namespaces: { RequiredNamespaceLabels: { labels: [{ key: 'team' }] } },
  'storage-and-host': { AllowedStorageClasses: { allowed: ['standard'] } },
  workloads: {
    RequiredAnnotations: { annotations: [{ key: 'runbook' }] },
    RequiredLabels: { labels: [{ key: 'team' }] },
  },
};

/** Returns the names of a package's rules. */
async function rulesOf(name: string): Promise<string[]> {
  const loaded = await loadPlugins([{ package: `kubenest/catalog/${name}`, configuration: configurations[name] ?? {} }], root);
  return loaded.map(({ described: { options } }) => options.name);
}

const packageOf = ({ file }: PolicyTestFile): string => basename(dirname(dirname(file)));

describe.each(packages)('the package %s', (name) => {
  const results: PolicyTestResult[] = [];
  let rules: readonly string[];
  beforeAll(async () => {
    rules = await rulesOf(name);
    for await (const result of runPolicyTests(files.filter((file) => packageOf(file) === name))) results.push(result);
  }, 60_000);

  it('passes its tests', () => {
    const failed = results.filter(({ differences, error }) => differences.length > 0 || error !== undefined);
    expect(failed.map(({ file, test, differences, error }) => [file.file, test.name, ...differences, error])).toEqual([]);
  });

  it('has a test that admits and one that denies or changes an object, for each rule', () => {
    const acting = new Set<string>();
    const admitting = new Set<string>();
    for (const { test, file } of results) {
      const { verdict, by, patch } = test.expected;
      if (verdict === 'denied' && by !== undefined) acting.add(by);
      for (const rule of rulesTestedBy(file)) {
        if (verdict === 'admitted') admitting.add(rule);
        if (patch === undefined && test.expected.object !== undefined) acting.add(rule);
      }
    }
    expect(rules.filter((rule) => !acting.has(rule))).toEqual([]);
    expect(rules.filter((rule) => !admitting.has(rule))).toEqual([]);
  });

  it('has a row for each rule in its page and in the guide', async () => {
    const page = await readFile(join(catalog, name, 'README.md'), 'utf8');
    const guide = await readFile(join(root, 'docs/guide/catalog.md'), 'utf8');
    const rows = (text: string): string[] => [...text.matchAll(/^\| `(\w+)` +\|/gm)].map(([, rule = '']) => rule);
    expect(rows(page).sort()).toEqual([...rules].sort());
    expect(rules.filter((rule) => !rows(guide).includes(rule))).toEqual([]);
  });
});

/** Returns the rules that a test file loads, in its own list or in the ServerConfiguration that it names. */
function rulesTestedBy({ file, config, plugins }: PolicyTestFile): readonly string[] {
  const list = plugins ?? (parse(readFileSync(resolve(dirname(file), config ?? ''), 'utf8')) as { readonly plugins: unknown }).plugins;
  return (list as readonly { readonly contributions?: readonly string[] }[]).flatMap(({ contributions = [] }) => contributions);
}

it('the guide has no rows of other rules', async () => {
  const guide = await readFile(join(root, 'docs/guide/catalog.md'), 'utf8');
  const all = (await Promise.all(packages.map(rulesOf))).flat();
  const rows = [...guide.matchAll(/^\| `([A-Z]\w+)` +\|/gm)].map(([, rule = '']) => rule);
  expect(rows.toSorted()).toEqual(all.toSorted());
  expect(new Set(all).size).toBe(all.length);
});

it('a package of the catalog is found in any folder, and keeps its name', () => {
  expect(findPluginPackage('kubenest/catalog/images', '/')).toMatchObject({
    name: 'kubenest/catalog/images',
    modules: [join(root, 'dist/catalog/images/dist/index.js')],
  });
});

it.each(['none', '../catalog/images', ''])('the unknown package "%s" of the catalog is an error with the known ones', (name) => {
  expect(() => findPluginPackage(`kubenest/catalog/${name}`, root)).toThrow(
    `unknown package of the catalog (available: ${packages.join(', ')})`,
  );
});
