import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Sbom, sbomOf, sbomText } from './sbom.mjs';

const root = resolve(import.meta.dirname, '..');
const execute = promisify(execFile);

it('contains the runtime packages, resolved from their nearest location, without development packages', () => {
  const lock = {
    packages: {
      '': { dependencies: { a: '1.0.0', '@s/b': '1.0.0' }, devDependencies: { tool: '1.0.0' } },
      'node_modules/a': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AQI=', dependencies: { c: '^2.0.0' } },
      'node_modules/a/node_modules/c': { version: '2.0.0', license: '(MIT OR Apache-2.0)', optional: true },
      'node_modules/@s/b': { version: '1.0.0', dependencies: { c: '^1.0.0', gone: '1' } },
      'node_modules/c': { version: '1.0.0', peerDependencies: { tool: '1' } },
      'node_modules/tool': { version: '1.0.0', dev: true },
      'node_modules/linked': { resolved: 'plugins/linked', link: true },
    },
  };
  const { metadata, components, dependencies } = sbomOf({ name: 'x', version: '0.1.0', license: 'Apache-2.0' }, lock);
  expect(metadata.component).toMatchObject({ name: 'x', version: '0.1.0', purl: 'pkg:npm/x@0.1.0' });
  expect(components).toEqual([
    { type: 'library', 'bom-ref': '@s/b@1.0.0', name: '@s/b', version: '1.0.0', purl: 'pkg:npm/%40s/b@1.0.0', scope: 'required' },
    {
      type: 'library',
      'bom-ref': 'a@1.0.0',
      name: 'a',
      version: '1.0.0',
      purl: 'pkg:npm/a@1.0.0',
      licenses: [{ license: { id: 'MIT' } }],
      scope: 'required',
      hashes: [{ alg: 'SHA-512', content: '0102' }],
    },
    { type: 'library', 'bom-ref': 'c@1.0.0', name: 'c', version: '1.0.0', purl: 'pkg:npm/c@1.0.0', scope: 'required' },
    {
      type: 'library',
      'bom-ref': 'c@2.0.0',
      name: 'c',
      version: '2.0.0',
      purl: 'pkg:npm/c@2.0.0',
      licenses: [{ expression: '(MIT OR Apache-2.0)' }],
      scope: 'optional',
    },
  ]);
  expect(dependencies).toEqual([
    { ref: '@s/b@1.0.0', dependsOn: ['c@1.0.0'] },
    { ref: 'a@1.0.0', dependsOn: ['c@2.0.0'] },
    { ref: 'c@1.0.0', dependsOn: [] },
    { ref: 'c@2.0.0', dependsOn: [] },
    { ref: 'x@0.1.0', dependsOn: ['@s/b@1.0.0', 'a@1.0.0'] },
  ]);
});

it('contains only bundled packages if they are specified', () => {
  const lock = {
    packages: {
      '': { dependencies: { a: '1.0.0', b: '1.0.0' } },
      'node_modules/a': { version: '1.0.0', dependencies: { c: '1.0.0', b: '1.0.0' } },
      'node_modules/b': { version: '1.0.0' },
      'node_modules/c': { version: '1.0.0' },
    },
  };
  const { components, dependencies } = sbomOf({ name: 'x', version: '1.0.0' }, lock, ['node_modules/a', 'node_modules/b']);
  expect(components.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(dependencies).toEqual([
    { ref: 'a@1.0.0', dependsOn: ['b@1.0.0'] },
    { ref: 'b@1.0.0', dependsOn: [] },
    { ref: 'x@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0'] },
  ]);
});

it('contains no URL except that of its schema, and no path', () => {
  const text = sbomText(root);
  expect(text.match(/\w+:\/\/[^"]*/g)).toEqual(['http://cyclonedx.org/schema/bom-1.5.schema.json']);
  expect(text).not.toContain(root);
  expect(text).not.toMatch(/"(\/|[A-Z]:\\)/);
});

// `npm sbom --omit=dev` omits packages that development needs as well, such as rxjs.
it('contains the packages that npm lists', { timeout: 60_000 }, async () => {
  const args = ['ls', '--omit=dev', '--all', '--parseable', '--long', '--package-lock-only'];
  const { stdout } = await execute('npm', args, { cwd: root, maxBuffer: 1 << 26 });
  const listed = [...stdout.matchAll(/node_modules\/[^:\n]*:([^:\n]+@[^:\n]+)/g)].map(([, ref = '']) => ref);
  const isOurs = (ref: string): boolean => /^@kubenest-(catalog|example)\//.test(ref);
  const { components } = JSON.parse(sbomText(root)) as Sbom;
  expect(components.map((component) => component['bom-ref'])).toEqual([...new Set(listed)].filter((ref) => !isOurs(ref)).toSorted());
});
