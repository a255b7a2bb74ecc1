import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../scripts/free-port.ts';
import { findKubectls } from './kubectls.ts';
import { call, end, launch, root } from './server-with-plugins.ts';

const execute = promisify(execFile);
const kubenest = join(root, 'bin/kubenest');
/** The environment of a new user: the Node that kubenest requires, without a test runner. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, VITEST: undefined };
const podWithout = { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a' }] } };

/** The package's module with a plugin whose constructor throws. */
const throwingPlugin = `import { AdmissionPlugin, contribute } from 'kubenest/sdk';
import { TeamLabelsConfiguration } from './team-labels.ts';

@AdmissionPlugin({
  name: 'TeamLabels',
  configuration: TeamLabelsConfiguration,
  match: [{ resources: ['pods'], operations: ['CREATE'] }],
})
class TeamLabels {
  constructor() {
    throw new Error('no licence');
  }
  validate(): void {}
}
export default contribute(TeamLabels);
`;

const guide = await readFile(join(root, 'docs/guide/plugins.md'), 'utf8');

let folder: string;
/** Folder of the new user's package. */
let where: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-newcomer-'));
  where = join(folder, 'team-labels');
  if (!existsSync(join(root, 'dist/types/.tsbuildinfo'))) await execute(process.execPath, [join(root, 'scripts/build-types.mjs')]);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a new user writes, tests, packs and installs a package, and explains its denial', async () => {
  const began = performance.now();
  const cluster = join(folder, 'cluster');
  await mkdir(cluster);
  await writeFile(join(cluster, 'package.json'), '{"private":true}');
  const created = await execute(kubenest, ['plugin', 'new', '@acme/team-labels', where]);
  const [enter = '', install = '', serve] = created.stdout.trimEnd().split('\n').slice(-3);
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  // The printed next steps, as they are; the last one serves.
  expect(serve).toBe('npx kubenest dev');
  const { stdout } = await execute('sh', ['-c', `${enter}\n${install}`], { cwd: folder, env: { ...env, ...npm } });
  expect(stdout).toMatch(/pass 2\n/);
  expect(stdout).toMatch(/\n2 tests: 2 passed, 0 failed/);
  await execute('npm', ['pack', '--pack-destination', cluster], { cwd: where, env });
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', './acme-team-labels-0.1.0.tgz'], { cwd: cluster, env });
  const server = await launch([{ package: '@acme/team-labels' }], cluster);
  try {
    const answer = await call(server.port, '/api/v1/namespaces/default/pods', podWithout);
    expect(answer).toMatchObject({ status: 403, body: { message: 'pods "web" is forbidden: missing labels: team' } });
    const [kubectl] = findKubectls();
    if (kubectl) {
      const target = [`--server=https://127.0.0.1:${server.port}`, '--token=admin-token', '--insecure-skip-tls-verify'];
      const refused = execute(kubectl.path, [...target, 'run', 'web', '--image=nginx'], { env });
      await expect(refused).rejects.toThrow('pods "web" is forbidden: missing labels: team');
    }
  } finally {
    await end(server);
  }
  const pod = join(folder, 'pod.json');
  await writeFile(pod, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...podWithout }));
  const explained = execute(kubenest, ['explain', '-f', pod, '--config', join(where, 'kubenest.yaml')]);
  await expect(explained).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/TeamLabels: denied: pods "web" is forbidden: missing labels: team/) as string,
  });
  expect(performance.now() - began).toBeLessThan(60_000 * load());
  const { stdout: help } = await execute('npx', ['kubenest', 'dev', '--help'], { cwd: where, env });
  expect(help).toContain('serve with plugin packages under development');
}, 180_000);

it('a new user writes a package with a controller, and the server loads it with its configuration', async () => {
  await execute(kubenest, ['plugin', 'new', '@acme/labels', '--controller'], { cwd: folder });
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  const place = join(folder, 'labels');
  const { stdout } = await execute('sh', ['-c', 'npm install && npm test'], { cwd: place, env: { ...env, ...npm } });
  expect(stdout).toMatch(/pass 2\n/);
  const { stdout: list } = await execute(kubenest, ['plugin', 'list', '--config', join(place, 'kubenest.yaml')], { env });
  expect(list).toMatch(/^@acme\/labels +0\.1\.0 +Controller +labels/m);
}, 120_000);

it('a new user writes a package in plain JavaScript, and `kubenest dev` serves it', async () => {
  const place = join(folder, 'plain');
  await mkdir(place);
  const manifest = { name: '@acme/plain', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(place, 'index.js'), blockOf('index.js'));
  await writeFile(join(place, 'kubenest.yaml'), blockOf('kubenest.yaml'));
  const port = await freePort();
  await writeFile(join(place, 'tokens.csv'), 'admin-token,admin,admin,"system:masters"\n');
  const flags = [`--secure-port=${port}`, `--token-auth-file=${join(place, 'tokens.csv')}`];
  const child = spawn(kubenest, ['dev', '--', ...flags], { cwd: place, stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const shown = (text: string): Promise<void> => vi.waitFor(() => expect(output).toContain(text), { timeout: 30_000, interval: 20 });
  const service = { metadata: { name: 'web' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } };
  const create = () => call(port, '/api/v1/namespaces/default/services', service);
  try {
    await shown('kubenest serves the Kubernetes API on https:');
    expect(await create()).toMatchObject({ status: 403, body: { message: 'services "web" is forbidden: type NodePort is not allowed' } });
    await writeFile(join(place, 'index.js'), blockOf('index.js').replace('is not allowed', 'is denied'));
    await shown('restarted with the changes');
    expect(await create()).toMatchObject({ status: 403, body: { message: 'services "web" is forbidden: type NodePort is denied' } });
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}, 90_000);

/** Returns the block of the guide whose first line is a comment with the name of the file. */
function blockOf(file: string): string {
  const found = new RegExp(`^\`\`\`\\w+\\n(?://|#) ${file}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)?.[1];
  if (found === undefined) throw new Error(`the guide has no ${file}`);
  return found;
}

/** Factor of limits of time by the load of the machine. */
function load(): number {
  return Math.max(1, (loadavg()[0] as number) / availableParallelism());
}

describe('kubenest dev', () => {
  let child: ChildProcess;
  let port: number;
  let inspect: number;
  let output = '';
  let errors = '';
  const shown = (pattern: RegExp): Promise<RegExpExecArray> => {
    const find = (): RegExpExecArray => {
      const found = pattern.exec(output);
      if (!found) throw new Error(`nothing like ${String(pattern)} in ${output}`);
      return found;
    };
    return vi.waitFor(find, { timeout: 30_000, interval: 20 });
  };
  beforeAll(async () => {
    port = await freePort();
    await writeFile(join(folder, 'tokens.csv'), 'admin-token,admin,admin,"system:masters"\n');
    const flags = [`--secure-port=${port}`, `--token-auth-file=${join(folder, 'tokens.csv')}`];
    inspect = await freePort();
    child = spawn(kubenest, ['dev', '--plugin', where, `--inspect=${inspect}`, '--', ...flags], { stdio: ['ignore', 'pipe', 'pipe'], env });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await shown(/kubenest serves the Kubernetes API on https:/);
  }, 40_000);
  afterAll(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }, 30_000);

  const source = (): string => join(where, 'src/team-labels.ts');
  const change = async (edit: (text: string) => string): Promise<void> => writeFile(source(), edit(await readFile(source(), 'utf8')));

  it('prints each write that its plugins handle with its trace, and no others', async () => {
    expect(await call(port, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } })).toMatchObject({ status: 201 });
    await call(port, '/api/v1/namespaces/default/pods', podWithout);
    await shown(/TeamLabels: denied: pods "web" is forbidden: missing labels: team/);
    expect(output).not.toMatch(/^(POST|PUT|PATCH) .*\/(configmaps|leases|events)/m);
  });

  it('keeps running while the sources are invalid', async () => {
    await change((text) => `${text}const broken = ;\n`);
    await shown(/team-labels\.ts.*Expression expected/);
    expect(await call(port, '/api/v1/namespaces/default/configmaps/kept')).toMatchObject({ status: 200 });
    await change((text) => text.replace('const broken = ;', '// mended'));
    await shown(/restarted with the changes/);
  });

  it('lets a debugger attach to the server, after restarts too', async () => {
    const target = async (): Promise<string> => {
      const [{ url }] = (await (await fetch(`http://127.0.0.1:${inspect}/json/list`)).json()) as [{ url: string }];
      return url;
    };
    expect(await target()).toMatch(/^file:/);
    output = '';
    await change((text) => `${text}// again\n`);
    await shown(/restarted with the changes/);
    expect(await target()).toMatch(/^file:/);
  });

  it('sees files that an editor replaces', async () => {
    for (const round of [1, 2]) {
      output = '';
      await writeFile(`${source()}.tmp`, `${await readFile(source(), 'utf8')}// ${round}\n`);
      await rename(`${source()}.tmp`, source());
      await shown(/restarted with the changes/);
    }
  });

  it.each([
    {
      name: 'the configuration is wrong',
      file: () => join(where, 'kubenest.yaml'),
      edit: (text: string) => text.replace('labels: [team]', 'labels: team'),
      problem: /TeamLabels\.labels: labels must be an array/,
    },
    {
      name: 'a constructor throws',
      file: () => join(where, 'src/index.ts'),
      edit: () => throwingPlugin,
      problem: /plugin package @acme\/team-labels: .*index\.\w+:\d+: plugin TeamLabels: no licence/,
    },
  ])('keeps the previous server while $name', async ({ file, edit, problem }) => {
    const good = await readFile(file(), 'utf8');
    output = '';
    await writeFile(file(), edit(good));
    await shown(/the previous server continues: correct the problem and save/);
    expect(errors).toMatch(problem);
    // The configuration is that of the next server; the previous one does not read it.
    expect(errors + output).not.toContain('cannot reload');
    expect(await call(port, '/api/v1/namespaces/default/configmaps/kept')).toMatchObject({ status: 200 });
    expect(await call(port, '/api/v1/namespaces/default/pods', podWithout)).toMatchObject({ status: 403 });
    output = '';
    await writeFile(file(), good);
    await shown(/restarted with the changes/);
  });

  it('serves changed sources within a second, with the stored objects', async () => {
    const times: number[] = [];
    let ended = false;
    /** Sends requests during the restarts. None is refused or reset, neither on connections of their own nor on those that are kept. */
    const requests = async (agent?: false): Promise<number> => {
      let answered = 0;
      while (!ended) {
        expect(await call(port, '/api/v1/namespaces/default/configmaps/kept', undefined, {}, agent)).toMatchObject({ status: 200 });
        answered += 1;
        await sleep(5);
      }
      return answered;
    };
    const requested = Promise.all([requests(false), requests(false), requests()]);
    const limit = (): number => 1_000 * load();
    for (let round = 0; round < 8 && Math.min(...times, Infinity) >= limit(); round += 1) {
      output = '';
      await change((text) => text.replace(/(missing|lacking\d*) labels/, `lacking${round} labels`));
      times.push(Number((await shown(/restarted with the changes in (\d+) ms/))[1]));
    }
    expect(Math.min(...times)).toBeLessThan(limit());
    ended = true;
    expect(Math.min(...(await requested))).toBeGreaterThan(0);
    const answer = await call(port, '/api/v1/namespaces/default/pods', podWithout);
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringMatching(/lacking\d labels: team$/) as unknown } });
    expect(await call(port, '/api/v1/namespaces/default/configmaps/kept')).toMatchObject({ status: 200 });
  }, 60_000);
});
