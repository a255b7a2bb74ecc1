import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, callText, end, installExamples, type Launch, launch } from './server-with-plugins.ts';

const examples = ['required-labels', 'spread-replicas', 'unique-hosts', 'api-key', 'environments', 'production-rules'];

/** Folder with the examples as users install them: compiled, packed, and installed outside of the checkout. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-plugins-'));
  await installExamples(folder, examples);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the error lines of a server that does not start. */
async function refusal(plugins: readonly object[], where = folder): Promise<string[]> {
  const launched = await launch(plugins, where);
  try {
    expect(launched.child.exitCode).toBe(1);
    return launched
      .stderr()
      .trim()
      .split('\n')
      .map((line) => line.replace(/^kubenest serve: --config: /, ''));
  } finally {
    await end(launched);
  }
}

describe('plugin packages', () => {
  let server: Launch;
  const keySha256 = createHash('sha256').update('open sesame').digest('hex');
  beforeAll(async () => {
    const plugins = [
      { package: '@kubenest-example/required-labels', configuration: { RequiredLabels: { labels: ['team', 'tier'] } } },
      { package: '@kubenest-example/spread-replicas' },
      { package: '@kubenest-example/unique-hosts', failurePolicy: 'Ignore', timeout: '1s' },
      {
        package: '@kubenest-example/api-key',
        contributions: ['ApiKeys'],
        configuration: { ApiKeys: { users: [{ name: 'ali', groups: ['system:masters'], keySha256 }] } },
      },
      { package: '@kubenest-example/environments' },
      { package: '@kubenest-example/production-rules', configuration: { ProductionRules: { leastReplicas: 3 } } },
    ];
    server = await launch(plugins, folder);
    expect(server.stderr()).toBe('');
  });
  afterAll(() => end(server));

  it("deny with their configuration and upstream's message form", async () => {
    const pod = { metadata: { name: 'web', labels: { team: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    expect(await call(server.port, '/api/v1/namespaces/default/pods', pod)).toMatchObject({
      status: 403,
      body: { kind: 'Status', reason: 'Forbidden', message: 'pods "web" is forbidden: missing labels: tier' },
    });
  });

  it('may be policies of rules', async () => {
    const labels = { team: 'a', tier: 'b' };
    await call(server.port, '/api/v1/namespaces', { metadata: { name: 'prod-eu' } });
    const path = '/apis/apps/v1/namespaces/prod-eu/deployments';
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const deployment = (replicas: number) => ({
      metadata: { name: 'web', labels },
      spec: { replicas, selector: { matchLabels: labels }, template },
    });
    expect(await call(server.port, path, deployment(2))).toMatchObject({
      status: 403,
      body: { message: 'deployments.apps "web" is forbidden: at least 3 replicas' },
    });
    expect(await call(server.port, path, deployment(3))).toMatchObject({
      status: 201,
      body: { spec: { template: { spec: { automountServiceAccountToken: false } } } },
    });
  });

  it('modify stored objects', async () => {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const deployment = {
      metadata: { name: 'web', labels: { team: 'a', tier: 'b' } },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    };
    expect(await call(server.port, '/apis/apps/v1/namespaces/default/deployments', deployment)).toMatchObject({
      status: 201,
      body: { spec: { template: { spec: { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }] } } } },
    });
  });

  it('read other objects by informers', async () => {
    const ingresses = (namespace: string): string => `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`;
    const backend = { service: { name: 'web', port: { number: 80 } } };
    const rule = { host: 'shop.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
    const ingress = { metadata: { name: 'web' }, spec: { rules: [rule] } };
    expect((await call(server.port, ingresses('default'), ingress)).status).toBe(201);
    expect(await call(server.port, ingresses('kube-public'), ingress)).toMatchObject({
      status: 403,
      body: { message: 'ingresses.networking.k8s.io "web" is forbidden: host shop.example.com belongs to namespace default' },
    });
  });

  it('add their own kinds', async () => {
    const environment = {
      apiVersion: 'platform.example.com/v1',
      kind: 'Environment',
      metadata: { name: 'shop', labels: { team: 'a', tier: 'b' } },
      spec: { owner: 'shop' },
    };
    const path = '/apis/platform.example.com/v1/namespaces/default/environments';
    expect(await call(server.port, path, environment)).toMatchObject({ status: 201, body: { spec: { tier: 'small', days: 14 } } });
    await expect.poll(() => call(server.port, `${path}/shop`)).toMatchObject({ status: 200, body: { status: { phase: 'Active' } } });
  });

  it('authenticate users', async () => {
    const review = (key: string) =>
      call(server.port, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { authorization: '', 'x-api-key': key });
    expect(await review('open sesame')).toMatchObject({ status: 201, body: { status: { userInfo: { username: 'ali' } } } });
    expect((await review('open')).status).toBe(401);
  });
});

/** Returns the source of a module with one admission plugin. */
const admission = (body: string, match: string): string => `import { AdmissionPlugin, contribute } from 'kubenest/sdk';
class Mine {
  ${body}
}
AdmissionPlugin({ name: 'Mine', match: [{ ${match} }] })(Mine);
export default contribute(Mine);`;

const commonJs = 'it is a CommonJS module; set "type": "module" in package.json and compile to ES modules';

describe('a server does not start with', () => {
  const name = '@kubenest-example/required-labels';
  it.each([
    {
      what: 'a package that is not installed',
      plugins: [{ package: '@kubenest-example/none' }],
      says: () => [`plugin package @kubenest-example/none: not installed in ${folder} or its parents`],
    },
    {
      what: 'a contribution that a package does not have',
      plugins: [{ package: name, contributions: ['Labels'] }],
      says: () => [`plugin package ${name}: unknown contributions: Labels (available: RequiredLabels)`],
    },
    {
      what: 'configurations that are wrong, all at once',
      plugins: [
        { package: name, configuration: { RequiredLabels: { labels: [], label: 1 } } },
        { package: '@kubenest-example/spread-replicas', configuration: { SpreadReplicas: { more: true } } },
      ],
      says: () => [
        `plugin package ${name}: RequiredLabels.label is unknown`,
        `plugin package ${name}: RequiredLabels.labels: labels should not be empty`,
        'plugin package @kubenest-example/spread-replicas: SpreadReplicas takes no configuration',
      ],
    },
    {
      what: 'files that differ from the requested ones',
      plugins: [{ package: name, integrity: `sha512-${'A'.repeat(86)}==` }],
      says: () => [expect.stringMatching(/integrity mismatch: the files have sha512-/) as unknown as string],
    },
  ])('$what', async ({ plugins, says }) => {
    expect((await refusal(plugins)).sort()).toEqual(says());
  });

  it.each([
    {
      what: 'a package for another SDK',
      manifest: { kubenest: { sdk: '^2', plugins: ['./index.js'] } },
      says: 'requires version ^2 of kubenest/sdk, but this server provides 1.0.0',
    },
    {
      what: 'a package without an entry for plugins',
      manifest: {},
      says: 'its package.json has no "kubenest": { "sdk": "^1", "plugins": ["./dist/index.js"] }',
    },
    {
      what: 'a package that is not built',
      manifest: { kubenest: { sdk: '^1', plugins: ['./dist/index.js'] } },
      says: 'missing file dist/index.js: build the package first',
    },
    {
      what: 'a module of another kind',
      manifest: { kubenest: { sdk: '1', plugins: ['./index.js'] } },
      code: 'export default class {}',
      says: 'the default export of index.js is not a ContainerModule',
    },
    {
      what: 'a class that is nothing',
      manifest: { kubenest: { sdk: '^1.0', plugins: ['./index.js'] } },
      code: "import { contribute } from 'kubenest/sdk'; class Odd {} export default contribute(Odd);",
      says: 'index.js: contributes Odd, which is not decorated as a plugin',
    },
    {
      what: 'a module that cannot be loaded',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: "throw new Error('no licence');",
      says: 'index.js:1: no licence',
    },
    {
      what: 'a module with a syntax error',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: "import 'kubenest/sdk';\nconst = 1;",
      says: "index.js:2: Unexpected token '='",
    },
    {
      what: 'a module that imports what does not exist',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: "import { Missing } from 'kubenest/sdk';",
      says: /^plugin package .\/plugin: index.js:1: The requested module 'kubenest\/sdk' does not provide an export named 'Missing'/,
    },
    {
      what: 'a module that imports a file that does not exist',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: "import { contribute } from 'kubenest/sdk';\nimport { rules } from './rules.js';\nexport default contribute(rules);",
      says: /^plugin package .\/plugin: index.js:2: Cannot find module '.*\/rules.js' imported from /,
    },
    {
      what: 'a CommonJS module',
      manifest: { type: 'commonjs', kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: "exports.default = require('kubenest/sdk').contribute();",
      says: `index.js: Cannot find module 'kubenest/sdk': ${commonJs}`,
    },
    {
      what: 'a CommonJS module without the SDK',
      manifest: { type: 'commonjs', kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: 'exports.default = class {};',
      says: `the default export of index.js is not a ContainerModule: ${commonJs}`,
    },
    {
      what: 'a constructor that throws',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: admission(
        "constructor() {\n    throw new Error('no licence');\n  }\n  validate() {}",
        "resources: ['pods'], operations: ['CREATE']",
      ),
      says: 'plugin package plugin: index.js:4: plugin Mine: no licence',
    },
    {
      what: 'a class without methods',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: admission('', "resources: ['pods'], operations: ['CREATE']"),
      says: 'plugin package plugin: index.js: plugin Mine has no method `admit` or `validate`',
    },
    {
      what: 'a plugin that would never be called',
      manifest: { kubenest: { sdk: '^1', plugins: ['./index.js'] } },
      code: admission('validate() {}', "resources: ['pod'], operations: ['CREATE']"),
      says: 'plugin package plugin: index.js: admission plugin Mine: match[0].resources: unknown resource "pod" (did you mean "pods"?); `groups` must name the group of a custom resource',
    },
  ])('$what', async ({ manifest, code = '', says }) => {
    const where = await mkdtemp(join(folder, 'broken-'));
    await mkdir(join(where, 'plugin'));
    await writeFile(join(where, 'plugin/package.json'), JSON.stringify({ name: 'plugin', version: '1.0.0', type: 'module', ...manifest }));
    await writeFile(join(where, 'plugin/index.js'), code);
    const [line = '', ...more] = await refusal([{ package: './plugin' }], where);
    expect(more).toEqual([]);
    if (typeof says === 'string')
      expect(line.replace('kubenest serve: ', '')).toBe(says.startsWith('plugin package') ? says : `plugin package ./plugin: ${says}`);
    else expect(line).toMatch(says);
  });
});

describe('a plugin that misbehaves', () => {
  let server: Launch;
  beforeAll(async () => {
    const where = await mkdtemp(join(folder, 'unsteady-'));
    const manifest = { name: 'unsteady', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
    await mkdir(join(where, 'plugin'));
    await writeFile(join(where, 'plugin/package.json'), JSON.stringify(manifest));
    await writeFile(
      join(where, 'plugin/index.js'),
      `import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { AdmissionPlugin, contribute } from 'kubenest/sdk';
class Unsteady {
  validate({ name }) {
    if (name === 'throws') throw new TypeError('undefined is not a function');
    if (name === 'hangs') return new Promise(() => {});
    if (name === 'leaks') void Promise.reject(new Error('nobody waits for this'));
    if (name === 'timer') setTimeout(() => { throw new Error('in a timer'); }, 1);
    if (name === 'socket') connect(1, '127.0.0.1');
    if (name === 'emitter') setImmediate(() => new EventEmitter().emit('error', new Error('no listener')));
  }
}
AdmissionPlugin({ name: 'Unsteady', match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Unsteady);
export default contribute(Unsteady);`,
    );
    server = await launch([{ package: './plugin', timeout: '5s' }], where);
    expect(server.stderr()).toBe('');
  });
  afterAll(() => end(server));

  const create = (name: string): ReturnType<typeof call> =>
    call(server.port, '/api/v1/namespaces/default/configmaps', { metadata: { name } });

  it('affects only its own request', async () => {
    const hanging = create('hangs');
    const failed = 'Internal error occurred: admission plugin "Unsteady" of package unsteady';
    expect(await create('throws')).toMatchObject({ status: 500, body: { message: `${failed} failed` } });
    expect(await create('leaks')).toMatchObject({ status: 201 });
    const others = Promise.all(Array.from({ length: 50 }, (_, i) => create(`other-${i}`)));
    const first = await Promise.race([hanging.then(() => 'the one that hangs'), others.then(() => 'the others')]);
    expect(first).toBe('the others');
    expect(new Set((await others).map(({ status }) => status))).toEqual(new Set([201]));
    expect(await hanging).toMatchObject({ status: 500, body: { message: `${failed} gave no answer within 5000 ms` } });
  });

  it('does not end the process by errors in its timers, sockets and emitters, which are counted', async () => {
    const failures = async (reason: string): Promise<number> => {
      const text = await callText(server.port, '/metrics');
      return Number(
        new RegExp(`plugin_failures_total\\{package="unsteady",plugin="index.js",reason="${reason}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
      );
    };
    for (const name of ['timer', 'socket', 'emitter']) expect(await create(name)).toMatchObject({ status: 201 });
    await vi.waitFor(async () => expect(await failures('uncaughtException')).toBe(3));
    expect(await failures('unhandledRejection')).toBe(1);
    expect(server.child.exitCode).toBeNull();
  });
});

describe('a package with `isolation: worker`', () => {
  let server: Launch;
  beforeAll(async () => {
    server = await launch([{ package: '@kubenest-example/required-labels', isolation: 'worker', memoryMiB: 64, timeout: '2s' }], folder);
    expect(server.stderr()).toBe('');
  });
  afterAll(() => end(server));

  it('runs in a thread of the built server, with its configuration', async () => {
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const path = '/api/v1/namespaces/default/pods';
    expect(await call(server.port, path, pod)).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(/missing labels: team/) as unknown },
    });
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { team: 'a' } } };
    expect(await call(server.port, path, labelled)).toMatchObject({ status: 201 });
  });

  it('follows the objects that it compares with', async () => {
    const following = await launch([{ package: '@kubenest-example/unique-hosts', isolation: 'worker' }], folder);
    const create = (namespace: string): ReturnType<typeof call> =>
      call(following.port, `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`, {
        metadata: { generateName: 'shop-' },
        spec: { rules: [{ host: 'shop.example.com' }] },
      });
    expect(await create('default')).toMatchObject({ status: 201 });
    expect(await create('default')).toMatchObject({ status: 201 });
    await vi.waitFor(async () => expect(await create('kube-public')).toMatchObject({ status: 403 }));
    await end(following);
  });
});
