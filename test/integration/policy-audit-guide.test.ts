import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '#apimachinery/meta/types';
import { runCommand } from '#cmd/commands/commands';
import { startTestCluster, type TestCluster } from '#testing/index';

const root = join(import.meta.dirname, '../..');
const guide = await readFile(join(root, 'docs/guide/policy-audit.md'), 'utf8');
/** Lines of the guide's shell blocks that run an audit. */
const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.split('\n'))
  .filter((line) => line.startsWith('kubenest audit'))
  .map((line) => {
    const [command = '', comment = ''] = line.split(/\s+#\s*/);
    return { command, code: Number(/^exit code (\d)$/.exec(comment)?.[1]) };
  });

const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
const pod = (name: string, image: string, securityContext: object): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop' },
    spec: { containers: [{ name: 'web', image, securityContext }] },
  }) as KubeObject;

/** Files that the commands name, by name. */
const files: Readonly<Record<string, string>> = {
  'no-latest.yaml': /# no-latest\.yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? '',
  'namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n',
  'kubenest.yaml': JSON.stringify({
    apiVersion: 'kubenest.dev/v1alpha1',
    kind: 'ServerConfiguration',
    plugins: [{ package: './required-labels' }],
  }),
  'required-labels/package.json': JSON.stringify({
    name: '@acme/required-labels',
    version: '1.0.0',
    type: 'module',
    kubenest: { sdk: '^1', plugins: ['./index.js'] },
  }),
  'required-labels/index.js': `
import { AdmissionPlugin, contribute, deny } from 'kubenest/sdk';
class RequiredLabels {
  validate(request) { if (!request.object.metadata.labels?.team) deny(request, 'missing labels: team'); }
}
AdmissionPlugin({ name: 'RequiredLabels', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })(RequiredLabels);
export default contribute(RequiredLabels);
`,
};
let folder: string;

/** Runs a command line; its files are in the folder. Returns the exit code and the output. */
async function run(line: string): Promise<{ code: number; text: string }> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    const args = line.split(' ').slice(1);
    return {
      code: await runCommand(args.map((argument) => (argument in files ? join(folder, argument) : argument))),
      text: log.mock.calls.flat().join('\n'),
    };
  } finally {
    log.mockRestore();
  }
}

describe('docs/guide/policy-audit.md', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubenest-guide-'));
    cluster = await startTestCluster({
      listen: true,
      flags: ['--disable-admission-plugins=PodSecurity', '--allow-privileged'],
      objects: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } } as KubeObject,
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'shop' } } as KubeObject,
        pod('web', 'nginx:latest', { privileged: true }),
        // Without a binding, so that it has no verdicts; commands may name it.
        parse(files['no-latest.yaml'] as string) as KubeObject,
      ],
    });
    expect(parse(files['no-latest.yaml'] as string)).toMatchObject({ kind: 'ValidatingAdmissionPolicy' });
    await mkdir(join(folder, 'required-labels'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig());
    vi.stubEnv('KUBECONFIG', join(folder, 'kubeconfig'));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await cluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('has commands with their exit codes', () => {
    expect(commands.length).toBeGreaterThan(8);
    expect(commands.filter(({ code }) => Number.isNaN(code))).toEqual([]);
  });

  it.each(commands)('$command: exit code $code', async ({ command, code }) => {
    const ran = await run(command);
    expect(ran.text).not.toBe('');
    expect(ran.code).toBe(code);
  });

  it('ends with exit code 2 for a wrong flag and an unreachable cluster', async () => {
    const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect((await run('kubenest audit --fail-on sometimes')).code).toBe(2);
      expect((await run('kubenest audit --kubeconfig missing')).code).toBe(2);
      expect((await run('kubenest audit --write-reports --policy no-latest')).code).toBe(2);
    } finally {
      error.mockRestore();
    }
  });
});
