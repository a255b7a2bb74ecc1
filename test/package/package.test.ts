import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, cp, glob, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../scripts/free-port.ts';
import { getRuntime } from '../../scripts/get-runtime.mjs';
import type { Sbom } from '../../scripts/sbom.mjs';
import { checkout, cleanEnvironment, execute, InstalledPackage } from './installed-package.ts';

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default?: string }>>;
}

let installed: InstalledPackage;
let manifest: Manifest;
beforeAll(async () => {
  installed = await InstalledPackage.make();
  manifest = JSON.parse(await readFile(join(installed.root, 'package.json'), 'utf8')) as Manifest;
}, 300_000);
afterAll(() => installed[Symbol.asyncDispose]());

const filesOf = async (pattern: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const file of glob(pattern, { cwd: installed.root })) found.push(file);
  return found;
};

async function answerOf(url: string): Promise<[status: number | undefined, text: string]> {
  const request = get(url, { rejectUnauthorized: false, headers: { authorization: 'Bearer admin-token' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return [response.statusCode, await text(response)];
}

describe('the package', () => {
  it('is a single publishable package without dependencies', async () => {
    expect((await readdir(join(installed.project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['kubenest']);
    expect(manifest).toMatchObject({ name: 'kubenest', publishConfig: { access: 'public', provenance: true } });
    for (const absent of ['private', 'dependencies', 'devDependencies', 'optionalDependencies', 'scripts', 'workspaces'])
      expect(manifest).not.toHaveProperty(absent);
  });

  it('contains every file of its manifest', async () => {
    const targets = Object.values(manifest.exports).flatMap((target) => (typeof target === 'string' ? target : Object.values(target)));
    for (const target of [...Object.values(manifest.bin), ...targets]) expect(await filesOf(target), target).not.toEqual([]);
  });

  it('contains every page that its pages link to', async () => {
    const pages = await filesOf('**/*.md');
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/guide/plugins.md', 'docs/guide/testing.md']));
    const dead: string[] = [];
    for (const page of pages) {
      const text = await readFile(join(installed.root, page), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g))
        if (!/^https?:/.test(link) && !existsSync(join(installed.root, dirname(page), link))) dead.push(`${page}: ${link}`);
    }
    expect(dead).toEqual([]);
  });

  it('contains no paths of the build machine', async () => {
    expect(existsSync(join(installed.root, 'dist/.compile-cache'))).toBe(false);
    for (const file of await filesOf('**/*.{js,json,ts,txt}'))
      expect(await readFile(join(installed.root, file), 'utf8'), file).not.toContain(checkout);
  });

  it('contains the notice and the bill of materials of each bundled package', async () => {
    const { components } = JSON.parse(await readFile(join(installed.root, 'sbom.cdx.json'), 'utf8')) as Sbom;
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['@grpc/grpc-js', '@nestjs/core', 'inversify', 'pino', 'yaml']));
    expect(names).not.toContain('@kubernetes/client-node');
    const notices = await readFile(join(installed.root, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const { name, version } of components) expect(notices).toContain(`\n${name} ${version} (`);
  });
});

describe('the commands', () => {
  it('load and test the catalog of policies by its name, in any folder', async () => {
    const config = join(installed.project, 'catalog.yaml');
    const plugins = '[{ package: kubenest/catalog/images, contributions: [DisallowedTags] }]';
    await writeFile(config, `apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\nplugins: ${plugins}\n`);
    const listed = await execute(installed.command('kubenest'), ['plugin', 'list', '--config', config], { env: cleanEnvironment() });
    expect(listed.stdout).toMatch(/kubenest\/catalog\/images +1\.0\.0 +AdmissionPlugin +DisallowedTags +enforce/);
    const tests = join(installed.root, 'plugins/catalog/image-signatures/tests');
    const tested = await execute(installed.command('kubenest'), ['test', tests], { env: cleanEnvironment() });
    expect(tested.stdout).toMatch(/\n6 tests: 6 passed, 0 failed/);
  });

  it("the guide's image of a webhook server runs the printed Deployment", { timeout: 60_000 }, async () => {
    const guide = await readFile(join(checkout, 'docs/guide/webhook.md'), 'utf8');
    const file = /```dockerfile\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
    const instruction = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(file)?.[1] ?? '';
    expect(instruction('FROM')).toBe(`node:${/\d+/.exec(manifest.engines.node)?.[0]}-slim`);
    expect(instruction('RUN')).toMatch(/^npm install kubenest@/);
    const folder = instruction('WORKDIR');
    const [entrypoint = ''] = JSON.parse(instruction('ENTRYPOINT')) as string[];
    // The project is the folder of the image.
    const command = entrypoint.replace(folder, installed.project);
    expect(command).toBe(installed.command('kubenest'));
    const config = join(installed.project, 'webhook.yaml');
    await writeFile(
      config,
      'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\nplugins: [{ package: kubenest/catalog/images, contributions: [DisallowedTags] }]\n',
    );
    const env = cleanEnvironment();
    const { stdout } = await execute(command, ['webhook', 'manifests', `--config=${config}`, '--image=registry.example/rules:1'], { env });
    const container = /- name: \S+\n +image: registry\.example\/rules:1\n +args:\n((?: +- .*\n)+)/.exec(stdout)?.[1] ?? '';
    const args = container
      .trim()
      .split('\n')
      .map((line) => line.replace(/^ *- /, ''));
    expect(args).toContain(`--config=${folder}/configuration/kubenest.yaml`);
    // The flags are known: their values are read before the help is printed.
    expect((await execute(command, [...args, '--help'], { env })).stdout).toContain('--shutdown-delay');
  });

  it.each([
    { command: 'kubenest', args: ['serve', '--ephemeral'] },
    { command: 'kube-apiserver', args: ['--ephemeral'] },
  ])('npx $command serves', { timeout: 60_000 }, async ({ command, args }) => {
    const port = await freePort();
    // Uses a process group like a shell, because npx does not forward signals.
    const options: SpawnOptionsWithoutStdio = { cwd: installed.project, env: cleanEnvironment(), detached: true };
    const tokens = join(installed.project, 'tokens.csv');
    await writeFile(tokens, 'admin-token,admin,1,"system:masters"\n');
    const child = spawn('npx', ['--offline', command, ...args, `--secure-port=${port}`, `--token-auth-file=${tokens}`], options);
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close')])) as unknown[];
    expect(`${String(first)}${errors}`).toContain(`kubenest serves the Kubernetes API on https://127.0.0.1:${port}`);
    // A page of Nest, behind Express: the bundle has what they require.
    expect(await answerOf(`https://127.0.0.1:${port}/kubenest`)).toEqual([200, expect.stringContaining('<h1>kubenest</h1>')]);
    process.kill(-child.pid!, 'SIGTERM');
    await once(child, 'close');
  });

  it('kubenest version prints the version of Kubernetes', async () => {
    const { stdout } = await execute(installed.command('kubenest'), ['version'], { env: cleanEnvironment() });
    expect(stdout).toMatch(/^v1\.\d+\.\d+\n$/);
  });
});

describe('the exports', () => {
  const modules = (): string[] =>
    Object.entries(manifest.exports).flatMap(([path, target]) =>
      typeof target === 'object' && target.default !== undefined ? path.replace('.', 'kubenest') : [],
    );

  it('are modules', async () => {
    const others = modules().filter((name) => name !== 'kubenest/sdk/testing/storage');
    expect(others.length).toBeGreaterThan(4);
    const text = others.map((name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}');`).join('\n');
    await writeFile(join(installed.project, 'imports.js'), text);
    await execute(process.execPath, ['imports.js'], { cwd: installed.project, env: cleanEnvironment() });
  });

  it('can be required by CommonJS', async () => {
    const text = `process.stdout.write(typeof require('kubenest/sdk').contribute + typeof require('kubenest/testing').startTestCluster)`;
    const { stdout, stderr } = await execute(process.execPath, ['-e', text], { cwd: installed.project, env: cleanEnvironment() });
    expect([stdout, stderr]).toEqual(['functionfunction', '']);
  });

  it('include the storage conformance tests for vitest', { timeout: 60_000 }, async () => {
    const project = join(installed.project, 'storage');
    await cp(installed.root, join(project, 'node_modules/kubenest'), { recursive: true });
    await symlink(join(checkout, 'node_modules/vitest'), join(project, 'node_modules/vitest'));
    await writeFile(
      join(project, 'storage.test.mjs'),
      `import { storageConformance } from 'kubenest/sdk/testing/storage';
import { it } from 'vitest';
it('is a function', ({ expect }) => expect(storageConformance).toBeTypeOf('function'));`,
    );
    const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
    await execute(process.execPath, [vitest, 'run', '--root', project], { cwd: project, env: cleanEnvironment() });
  });
});

describe('the in-process cluster serves', () => {
  beforeAll(() => copyFile(join(import.meta.dirname, 'in-process-cluster.mjs'), join(installed.project, 'in-process-cluster.mjs')));

  it.each([
    { runtime: 'Node', binary: () => process.execPath, args: [] },
    { runtime: 'Bun', binary: () => getRuntime('bun'), args: ['run'] },
    { runtime: 'Deno', binary: () => getRuntime('deno'), args: ['run', '--allow-all', '--node-modules-dir=manual'] },
  ])('on $runtime', { timeout: 120_000 }, async ({ binary, args }) => {
    const { stdout } = await execute(binary(), [...args, 'in-process-cluster.mjs'], { cwd: installed.project, env: cleanEnvironment() });
    expect(stdout.trim().split('\n')).toEqual(['in process 3 403', 'over https 201 ADDED v']);
  });
});

describe('a plugin package', () => {
  let folder: string;
  beforeAll(async () => {
    folder = join(installed.project, 'team-labels');
    const options = { cwd: installed.project, env: cleanEnvironment() };
    await execute(installed.command('kubenest'), ['plugin', 'new', '@acme/team-labels'], options);
    await execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { ...options, cwd: folder });
  }, 180_000);

  it('is created, installed and tested with the installed package', { timeout: 120_000 }, async () => {
    const { stdout } = await execute('npm', ['test'], { cwd: folder, env: cleanEnvironment() });
    expect(stdout).toMatch(/pass 2\n/);
  });

  it('may have a controller instead of an admission plugin', { timeout: 240_000 }, async () => {
    const options = { cwd: installed.project, env: cleanEnvironment() };
    const own = join(installed.project, 'labels');
    await execute(installed.command('kubenest'), ['plugin', 'new', '@acme/labels', '--controller'], options);
    await execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { ...options, cwd: own });
    const { stdout } = await execute('npm', ['test'], { ...options, cwd: own });
    expect(stdout).toMatch(/pass 2\n/);
    // Vitest compiles decorators, also of parameters, outside of the `include` of tsconfig.json.
    await symlink(join(checkout, 'node_modules/vitest'), join(own, 'node_modules/vitest'));
    const source = await readFile(join(own, 'src/labels.ts'), 'utf8');
    await mkdir(join(own, 'test'));
    await writeFile(join(own, 'test/other.ts'), source);
    await writeFile(
      join(own, 'test/other.test.ts'),
      `import { reconcileTable } from 'kubenest/sdk/testing';
import { Labels } from './other.ts';
reconcileTable(Labels, [{ name: 'ignores a namespace that is gone', request: 'gone' }]);`,
    );
    const vitest = await execute(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], { ...options, cwd: own });
    expect(vitest.stdout).toMatch(/Tests +3 passed/);
  });

  it('denies requests when it has another copy of kubenest than the server', { timeout: 60_000 }, async () => {
    await writeFile(
      join(installed.project, 'denied.mjs'),
      `import { startTestCluster } from 'kubenest/testing';
import { TeamLabels } from './team-labels/dist/team-labels.js';
await using cluster = await startTestCluster({ plugins: [TeamLabels], quiet: true });
const body = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const { status } = await cluster.fetch('/api/v1/namespaces/default/pods', { body });
process.stdout.write(String(status));`,
    );
    const { stdout } = await execute(process.execPath, ['denied.mjs'], { cwd: installed.project, env: cleanEnvironment() });
    expect(stdout).toBe('403');
  });

  it('is served by `kubenest dev` of the installed package', { timeout: 60_000 }, async () => {
    const port = await freePort();
    const command = join(folder, 'node_modules/.bin/kubenest');
    const child = spawn(command, ['dev', '--', `--secure-port=${port}`], {
      cwd: folder,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      await vi.waitFor(() => expect(output).toContain(`kubenest serves the Kubernetes API on https://127.0.0.1:${port}`), {
        timeout: 30_000,
      });
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  it('compiles against all types without skipLibCheck', { timeout: 180_000 }, async () => {
    const names = (await filesOf('dist/types/src/kubernetes/types/*.gen.d.ts')).map((file) => /([^/]+)\.gen\.d\.ts$/.exec(file)?.[1] ?? '');
    const types = names.map((name) => `kubenest/types/${name}`);
    expect(types).toContain('kubenest/types/apps_v1');
    const modules = Object.keys(manifest.exports).filter((path) => !path.includes('*') && path !== './package.json');
    const text = [...modules.map((path) => path.replace('.', 'kubenest')), ...types].map((name, i) => `export * as m${i} from '${name}';`);
    await mkdir(join(folder, 'all'));
    await writeFile(join(folder, 'all/all.ts'), text.join('\n'));
    const compilerOptions = { target: 'es2024', module: 'nodenext', strict: true, skipLibCheck: false, noEmit: true };
    await writeFile(join(folder, 'all/tsconfig.json'), JSON.stringify({ compilerOptions, files: ['all.ts'] }));
    const { stdout } = await execute('npx', ['tsc', '-p', 'all'], { cwd: folder, env: cleanEnvironment() }).catch((error: unknown) => {
      return error as { stdout: string };
    });
    expect(stdout).toBe('');
  });

  describe('on Node 20', () => {
    let env: NodeJS.ProcessEnv;
    beforeAll(() => {
      env = cleanEnvironment(getRuntime('node20'));
    }, 180_000);
    const message = (): RegExp =>
      new RegExp(`^kubenest needs Node ${manifest.engines.node.replace('>=', '')} or newer, and this is v?20\\.`);
    /** Returns the first output of a command on either stream. */
    const firstOutput = async (command: string, args: readonly string[], cwd: string): Promise<string> => {
      const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data.toString()));
      const [code] = (await once(child, 'close')) as [number];
      expect(code).not.toBe(0);
      return text.split('\n')[0] ?? '';
    };

    it.each([
      { what: 'kubenest', command: () => installed.command('kubenest'), args: ['serve'] },
      { what: 'kube-apiserver', command: () => installed.command('kube-apiserver'), args: [] },
      { what: 'an import', command: () => 'node', args: ['--input-type=module', '-e', "import 'kubenest/testing'"] },
      { what: 'a dynamic import', command: () => 'node', args: ['-e', "import('kubenest/sdk/testing')"] },
    ])('$what first reports the required Node version', async ({ command, args }) => {
      expect(await firstOutput(command(), args, installed.project)).toMatch(message());
    });

    it('the tests of a new package first report the required Node version', async () => {
      expect(await firstOutput('npm', ['test', '--silent'], folder)).toMatch(message());
    });
  });
});
