import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findKubectls } from './kubectls.ts';
import { root } from './server-with-plugins.ts';

const execute = promisify(execFile);

/** Folder of the files that the commands write, and of those that readers have. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-guide-'));
  await writeReadersFiles();
  if (!existsSync(join(root, 'dist/types/.tsbuildinfo'))) await execute(process.execPath, [join(root, 'scripts/build-types.mjs')]);
  // The packages whose tests the commands run.
  for (const example of ['required-labels', 'production-rules'])
    await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: join(root, 'plugins/example', example) });
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Documented {
  readonly command: string;
  readonly code: number;
  /** The output that the guide shows; undefined: it shows none. */
  readonly output: string | undefined;
}

/** Returns the commands of a chapter, with the output in the block after a block of one command. */
function commandsOf(page: string, from = '', to = ''): Documented[] {
  const end = to === '' ? undefined : page.indexOf(to);
  const chapter = page.slice(page.indexOf(from), end);
  return [...chapter.matchAll(/```sh\n(.*?)```\n(?:\n```\n(.*?)```)?/gs)].flatMap(([, block = '', output]) =>
    block
      .replaceAll('\\\n', '')
      .trim()
      .split('\n')
      .map((line) => ({ command: line.replace(/ # .*/, ''), code: Number(/# exit code (\d)/.exec(line)?.[1] ?? 0), output })),
  );
}

const withoutTimes = (output: string): string => output.replaceAll(/ \([\d.]+ m?s\)/g, '');
const page = (name: string): Promise<string> => readFile(join(root, `docs/${name}.md`), 'utf8');
const documented = [
  ...commandsOf(await page('guide/testing'), '## Tests of policies', '## envtest'),
  ...commandsOf(await page('guide/catalog'), '## Use', '## Rules'),
];
/** Commands with files of the reader, in the folder. */
const withReadersFiles = [
  ...commandsOf(await page('guide/traces'), '', '## Traces of a running server').filter(({ command }) => !command.includes('--kubeconfig')),
  ...commandsOf(await page('reference/configuration'), '## ServerConfiguration', '### References'),
  ...commandsOf(await page('guide/plugins'), '## Which plugins are loaded', '## Find out').filter(({ command }) =>
    command.startsWith('kubenest'),
  ),
  ...commandsOf(await page('guide/plugins'), '## Quick start', '## A policy of rules').filter(({ command }) =>
    command.includes('integrity'),
  ),
];

/** Writes the files that commands of the pages name: a package, a pod that it admits, and the roles of a user. */
async function writeReadersFiles(): Promise<void> {
  const configuration = { apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins: [{ package: '@acme/team-labels' }] };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { team: 'a' } },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  };
  const metadata = { name: 'pods', namespace: 'default' };
  const group = 'rbac.authorization.k8s.io';
  const role = { apiVersion: `${group}/v1`, kind: 'Role', metadata, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }] };
  const binding = {
    ...{ apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata, roleRef: { apiGroup: group, kind: 'Role', name: 'pods' } },
    subjects: [{ apiGroup: group, kind: 'User', name: 'ali' }],
  };
  await writeFile(join(folder, 'pod.yaml'), JSON.stringify(pod));
  await writeFile(join(folder, 'roles.yaml'), `${JSON.stringify(role)}\n---\n${JSON.stringify(binding)}\n`);
  await writeFile(join(folder, 'plugins.yaml'), JSON.stringify(configuration));
  const code = `import { contribute, deny, policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';
export default contribute(policy('TeamLabels', when(Pod).created().withoutLabel('team').validate((_, request) => deny(request, 'missing labels: team'))));
`;
  for (const [place, name] of [
    ['node_modules/@acme/team-labels', '@acme/team-labels'],
    ['labels', 'labels'],
  ] as const) {
    await mkdir(join(folder, place), { recursive: true });
    const manifest = { name, version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
    await writeFile(join(folder, place, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, place, 'index.js'), code);
  }
}

it('the guide has commands for policies, packages and one request', () => {
  expect(documented.length).toBeGreaterThanOrEqual(8);
  expect(documented.filter(({ output }) => output !== undefined)).toHaveLength(2);
});

function readersEnv(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, VITEST: undefined };
}

async function runInShell(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv = {},
  shell = 'sh',
): Promise<{ readonly code: number | null; readonly printed: string; readonly errors: string }> {
  const child = spawn(shell, ['-c', command], { cwd, env: { ...readersEnv(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  // On a busy machine, requests are slow.
  const others = errors.split('\n').filter((line) => !line.includes('"msg":"slow request"'));
  return { code: child.exitCode, printed, errors: others.join('\n') };
}

it.each(documented)(
  '$command does what the guide describes',
  async ({ command, code, output }) => {
    const ran = await runInShell(command.replace('junit.xml', join(folder, 'junit.xml')), root);
    expect(ran.errors).toBe('');
    expect(ran.code, ran.printed).toBe(code);
    if (output !== undefined) expect(withoutTimes(ran.printed)).toBe(withoutTimes(output));
  },
  120_000,
);

it.each(withReadersFiles)('$command succeeds with the files of a reader', async ({ command, code }) => {
  // `config init` writes kubenest.yaml; the other commands read one that names a package.
  if (command.includes('config init')) await rm(join(folder, 'kubenest.yaml'), { force: true });
  else await writeFile(join(folder, 'kubenest.yaml'), await readFile(join(folder, 'plugins.yaml')));
  const ran = await runInShell(command, folder);
  expect(ran.errors).toBe('');
  expect(ran.code, ran.printed).toBe(code);
  expect(ran.printed).not.toBe('');
});

describe('commands with a running server', () => {
  const kubectl = findKubectls()[0]?.path;
  let server: ChildProcess;
  let kubeconfig: string;
  /** The commands of the chapter on the scan: definitions, a server, a list. */
  let recipe: readonly string[];
  beforeAll(async () => {
    recipe = commandsOf(await page('guide/policy-audit'), '## A scan in the server').map(({ command }) => command);
    kubeconfig = join(folder, '.kube/config');
    await mkdir(dirname(kubeconfig), { recursive: true });
    const serve = recipe.find((command) => command.startsWith('kubenest serve')) ?? '';
    const more = `--ephemeral --secure-port=0 --data-dir=${join(folder, 'scan')} --kubeconfig-out=${kubeconfig}`;
    server = spawn('sh', ['-c', `exec ${serve} ${more}`], { env: readersEnv(), stdio: ['ignore', 'pipe', 'inherit'] });
    await once(server.stdout as Readable, 'data');
  }, 60_000);
  afterAll(async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  });
  const run = async (command: string): Promise<{ code: number | null; printed: string; errors: string }> =>
    runInShell(
      command,
      folder,
      { HOME: folder, KUBECONFIG: kubeconfig, PATH: `${dirname(kubectl ?? '')}:${readersEnv()['PATH']}` },
      'bash',
    );

  it('explain asks the cluster of a kubeconfig', async () => {
    const asked = commandsOf(await page('guide/traces'), '', '## Traces of a running server').filter(({ command }) =>
      command.includes('--kubeconfig'),
    );
    expect(asked).toHaveLength(1);
    await writeFile(join(folder, 'kubenest.yaml'), await readFile(join(folder, 'plugins.yaml')));
    // In this cluster, ali has no rights yet.
    for (const { command } of asked)
      expect(await run(command)).toMatchObject({ code: 1, printed: expect.stringContaining('403') as unknown });
  });

  it.runIf(kubectl !== undefined)(
    'the scan writes reports once their definitions exist',
    async () => {
      const [definitions = '', , list = ''] = recipe;
      expect([definitions, list].every((command) => command.startsWith('kubectl'))).toBe(true);
      expect(await run(definitions)).toMatchObject({
        code: 0,
        printed: expect.stringContaining('reports.openreports.io created') as unknown,
      });
      const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[{"name":"a","image":"a"}]}}`;
      // The service account of the namespace is that of a controller, which may not have come yet.
      await vi.waitFor(async () => expect(await run(`echo '${pod}' | kubectl apply -f -`)).toMatchObject({ code: 0 }));
      expect(await run('kubectl label namespace default pod-security.kubernetes.io/enforce=baseline')).toMatchObject({ code: 0 });
      await vi.waitFor(async () => expect((await run(list)).printed).toMatch(/default +\S+ +\d+ +1 /), { timeout: 30_000, interval: 200 });
    },
    60_000,
  );
});
