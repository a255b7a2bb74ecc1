import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { runCommand } from '#cmd/commands/commands';
import { LogOutput } from '#cmd/logging/log-output';
import { completeOptions } from '#cmd/options/complete';
import { flagValues } from '#cmd/options/flag-values';
import { readServerOptions } from '#cmd/options/read-server-options';
import { webhookManifests } from '#cmd/webhook/manifests/webhook-manifests';
import { startTestCluster } from '#testing/index';

const head = 'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\n';
const source = `
import 'reflect-metadata';
import { AdmissionPlugin, Configuration, contribute, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';
class Rule { key = ''; }
Matches(/^[a-z]+$/)(Rule.prototype, 'key');
class Options { labels = []; most = 3; level = 'low'; rules = []; token = 'none'; extra; }
IsArray()(Options.prototype, 'labels'); ArrayNotEmpty()(Options.prototype, 'labels'); IsString({ each: true })(Options.prototype, 'labels');
IsInt()(Options.prototype, 'most'); Min(1)(Options.prototype, 'most'); Max(9)(Options.prototype, 'most');
IsIn(['low', 'high'])(Options.prototype, 'level');
IsArray()(Options.prototype, 'rules'); ValidateNested({ each: true })(Options.prototype, 'rules'); Type(() => Rule)(Options.prototype, 'rules');
Matches(/^none$/, { message: 'token is "$value"' })(Options.prototype, 'token');
IsOptional()(Options.prototype, 'extra'); IsString()(Options.prototype, 'extra');
class Team { constructor(options) { if (options.extra) throw new Error('extra is ' + options.extra); } validate() {} }
inject(Configuration)(Team, undefined, 0);
AdmissionPlugin({ name: 'Team', configuration: Options, match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
export default contribute(Team);
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-config-'));
  await mkdir(join(folder, 'team'));
  await write('team/package.json', {
    name: '@acme/team',
    version: '1.0.0',
    type: 'module',
    kubenest: { sdk: '^1', plugins: ['./index.js'] },
  });
  await write('team/index.js', source);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, content: string | object): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly errors: readonly string[];
}

/** Runs a command and returns what it prints. */
async function run(...args: readonly string[]): Promise<Ran> {
  const out: string[] = [];
  const errors: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  const error = vi.spyOn(console, 'error').mockImplementation((text: string) => void errors.push(text));
  try {
    return { code: await runCommand(args), out: out.join('\n'), errors };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

it('init writes a file whose every option is valid once it is not a comment, and does not overwrite', async () => {
  const file = join(folder, 'new.yaml');
  expect(await run('config', 'init', file)).toEqual({ code: 0, out: file, errors: [] });
  const text = await readFile(file, 'utf8');
  expect(parse(text)).toEqual({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration' });
  expect((await run('config', 'validate', file)).code).toBe(0);
  const [, body = ''] = text.split('kind: ServerConfiguration\n');
  const options = body.split('\n# plugins:', 1)[0] as string;
  const { oidc, ...all } = parse(options.replaceAll(/^# /gm, '')) as Record<string, Record<string, unknown>>;
  // The issuer is required as soon as a member of `oidc` is set.
  expect(oidc).toMatchObject({ oidcIssuerUrl: '' });
  const whole = await write('whole.yaml', head + stringify(all, { version: '1.1' }));
  const { serving, requests } = all;
  expect(serving).toMatchObject({ securePort: 6443, bindAddress: '127.0.0.1' });
  expect(requests).toMatchObject({ requestTimeout: '1m0s' });
  expect(await run('config', 'validate', whole)).toEqual({ code: 0, out: `${whole} is valid`, errors: [] });
  expect(await run('config', 'init', file)).toMatchObject({
    code: 1,
    errors: [expect.stringContaining(`cannot create ${file}: it exists already`)],
  });
});

it.each([
  {
    name: 'all errors of the file, of what it names and of packages',
    lines: () => [
      'serving: { securPort: 1, securePort: 70000 }',
      'requests: { requestTimeout: soon }',
      'plugins: [{ package: ./team, configuration: { Team: { most: 10 } } }]',
    ],
    problems: [
      'serving.securPort is unknown; did you mean securePort?',
      'requests.requestTimeout: ',
      '--secure-port',
      'plugin package ./team: Team.labels: labels should not be empty',
      'plugin package ./team: Team.most: most must not be greater than 9',
    ],
  },
  {
    name: 'a missing reference together with all other errors',
    lines: () => [
      'serving: { securPort: 1 }',
      `storage: { redisUrl: "\${env:NONE_OF_THIS}" }`,
      `audit: { auditPolicyFile: ${folder}/none.yaml }`,
      `plugins: [{ package: ./team, configuration: { Team: { most: 10, labels: ["\${file:none.txt}"] } } }]`,
    ],
    problems: [
      'storage.redisUrl: the environment variable NONE_OF_THIS is not set',
      'plugins[0].configuration.Team.labels[0]: cannot open',
      'serving.securPort is unknown',
      'none.yaml',
      'plugin package ./team: Team.most: most must not be greater than 9',
    ],
  },
])('validate reports $name', async ({ lines, problems }) => {
  const file = await write('wrong.yaml', `${head}${lines().join('\n')}\n`);
  const { code, errors } = await run('config', 'validate', file);
  expect(code).toBe(1);
  const all = errors.join('\n');
  for (const problem of problems) expect(all).toContain(problem);
});

describe('plugins without a place', () => {
  const manifests = { name: 'w', namespace: 'w', image: 'w', replicas: 1, excludeNamespace: [], url: 'https://localhost' };
  const never = 'match[0].resources: unknown resource "podz" (did you mean "pods"?)';
  beforeAll(async () => {
    await mkdir(join(folder, 'useless'));
    await write('useless/package.json', {
      name: '@acme/useless',
      version: '1.0.0',
      type: 'module',
      kubenest: { sdk: '^1', plugins: ['./index.js'] },
    });
    await write(
      'useless/index.js',
      `import { AdmissionPlugin, contribute } from 'kubenest/sdk';
const plugin = (options) => { class Some { validate() {} } AdmissionPlugin(options)(Some); return Some; };
const pods = [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }];
export default contribute(
  plugin({ name: 'Never', match: [{ groups: [''], resources: ['podz'], operations: ['CREATE'] }] }),
  plugin({ name: 'First', match: pods, before: ['Second'] }),
  plugin({ name: 'Second', match: pods, before: ['First'] }),
);
`,
    );
  });

  it('are problems for `validate`, also beside other ones', async () => {
    for (const more of ['', 'serving: { securPort: 1 }\n']) {
      const file = await write('placeless.yaml', `${head}${more}plugins: [{ package: ./useless }]\n`);
      const { code, errors } = await run('config', 'validate', file);
      const all = errors.join('\n');
      expect([code, all]).toEqual([1, expect.stringContaining(`plugin package @acme/useless: index.js: admission plugin Never: ${never}`)]);
      expect(all).toMatch(/First.*Second|Second.*First/);
    }
  });

  it('have no webhook', async () => {
    const file = await write('placeless.yaml', `${head}plugins: [{ package: ./useless, contributions: [Never] }]\n`);
    await expect(webhookManifests({ ...manifests, config: file })).rejects.toThrow(never);
  });

  it('are no problem if the file disables them', async () => {
    const disabled = 'admission: { disableAdmissionPlugins: [Never, First] }\n';
    const file = await write('placeless.yaml', `${head}${disabled}plugins: [{ package: ./useless }]\n`);
    expect(await run('config', 'validate', file)).toMatchObject({ code: 0, errors: [] });
    const command = await readServerOptions([`--config=${file}`, '--ephemeral']);
    if (!('options' in command)) throw new Error('no options');
    const { config, dispose } = await completeOptions(command.options);
    await dispose();
    const { plugins, disabledPlugins } = config;
    await using cluster = await startTestCluster({ config: { plugins, disabledPlugins }, quiet: true });
    const { plugins: listed } = (await (await cluster.fetch('/debug/plugins')).json()) as { plugins: { name: string }[] };
    expect(listed.map(({ name }) => name)).toEqual(['Second']);
  });
});

it('validate reports files that do not exist, and leaves nothing behind', async () => {
  const file = await write(
    'missing.yaml',
    `${head}audit: { auditPolicyFile: ${folder}/none.yaml }\nserving: { certDir: ${folder}/certs }\n`,
  );
  const { code, errors } = await run('config', 'validate', file);
  expect([code, errors.join('\n')]).toEqual([1, expect.stringContaining('none.yaml')]);
  await expect(readFile(join(folder, 'certs', 'apiserver.crt'))).rejects.toThrow('ENOENT');
});

it('schema has the options, and the configuration classes of packages', async () => {
  const { code, out, errors } = await run('config', 'schema', join(folder, 'team'));
  expect([code, errors]).toEqual([0, []]);
  const { properties } = JSON.parse(out) as {
    properties: Record<string, { properties: Record<string, object>; items: { allOf: { then: object }[] } }>;
  };
  expect(properties['serving']?.properties['securePort']).toMatchObject({
    type: ['integer', 'string'],
    description: expect.stringContaining('default 6443'),
  });
  expect(properties['plugins']?.items).toMatchObject({
    required: ['package'],
    properties: { isolation: { anyOf: [{ enum: ['worker'] }, {}] } },
  });
  expect(properties['plugins']?.items.allOf[0]?.then).toMatchObject({
    properties: {
      configuration: {
        additionalProperties: false,
        properties: {
          Team: {
            required: ['labels'],
            additionalProperties: false,
            properties: {
              labels: { type: 'array', minItems: 1, items: { type: 'string' } },
              most: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
              level: { anyOf: [{ enum: ['low', 'high'] }, {}], default: 'low' },
              rules: {
                type: 'array',
                items: { required: ['key'], properties: { key: { anyOf: [{ type: 'string', pattern: '^[a-z]+$' }, {}] } } },
              },
              extra: { type: 'string' },
            },
          },
        },
      },
      policies: { properties: { Team: { properties: { mode: { anyOf: [{ enum: ['enforce', 'warn', 'audit'] }, {}] } } } } },
    },
  });
});

it('schema has the packages of a configuration file', async () => {
  const file = await write('schema.yaml', `${head}plugins: [{ package: ./team }]\n`);
  expect((await run('config', 'schema', '--config', file)).out).toContain('"labels"');
  expect(await run('config', 'schema', './none')).toMatchObject({
    code: 1,
    errors: [expect.stringContaining('plugin package ./none: not installed')],
  });
});

const secret = 'correct-horse-battery';

it.each([
  ['an error of a validator', { labels: ['a'], token: `\${file:secret}` }, 'Team.token: token is "[redacted]"'],
  [
    'a missing environment variable',
    { labels: [`\${env:KUBENEST_MISSING}`] },
    'plugins[0].configuration.Team.labels[0]: the environment variable',
  ],
])('%s does not show a secret', async (_, configuration, problem) => {
  await write('secret', `${secret}\n`);
  const file = await write(
    'secrets.yaml',
    `${head}plugins: ${JSON.stringify([{ package: './team', configuration: { Team: configuration } }])}\n`,
  );
  const { code, errors } = await run('config', 'validate', file);
  expect([code, errors.join('\n')]).toEqual([1, expect.stringContaining(problem)]);
  expect(errors.join('\n')).not.toContain(secret);
});

it('flags and the log do not show a secret', async () => {
  await write('secret', `${secret}\n`);
  const file = await write(
    'flags.yaml',
    `${head}storage: { storageBackend: etcd3, etcdServers: [http://127.0.0.1:1], etcdPrefix: "/\${file:secret}" }\n`,
  );
  const command = await readServerOptions([`--config=${file}`]);
  if (!('options' in command)) throw new Error('no options');
  expect(command.options.storage.etcdPrefix).toBe(`/${secret}`);
  const values = flagValues(command.options);
  expect(values.get('etcd-prefix')).toBe('CLASSIFIED');
  expect([...values.values()].join('\n')).not.toContain(secret);
  const lines: string[] = [];
  const output = new LogOutput({ waiting: 0, write: (text) => void lines.push(text) });
  output.write(`{"msg":"connects to /${secret}"}\n`);
  output.flush();
  expect(lines).toEqual(['{"msg":"connects to /[redacted]"}\n']);
});
