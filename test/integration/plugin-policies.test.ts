import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import { integrityOf } from '#apiserver/plugins/package-integrity';
import type { PluginRequest } from '#apiserver/plugins/plugin-request';
import { readPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { traceHeader } from '#apiserver/tracing/request-traces';
import type { App } from '#cmd/app';
import { reloadingPlugins } from '#cmd/commands/reload-plugins';
import { completeOptions } from '#cmd/options/complete';
import { listPlugins } from '#cmd/plugin-tools/list-plugins';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerConfig } from '#cmd/server-config';
import { startTestCluster, type TestCluster } from '#testing/index';

const maps = '/api/v1/namespaces/default/configmaps';

/** Labels each object in `admit`, and in the phase of the annotation denies, fails or warns. */
const source = `
import { once } from 'node:events';
import { AdmissionPlugin, Configuration, contribute, deny, inject } from 'kubenest/sdk';
import { IsString } from 'kubenest/sdk/configuration';
class Options { touched = 'yes'; }
IsString()(Options.prototype, 'touched');
const act = (phase, request) => {
  const [where, how] = (request.object.metadata.annotations?.be ?? '').split(' ');
  if (where !== phase) return;
  if (how === 'denies') deny(request, 'no team');
  if (how === 'warns') request.addWarning('from the plugin');
  if (how === 'fails') throw new TypeError('broken');
};
class Team {
  constructor(options) {
    if (options.touched === 'throw') throw new Error('thrown by the constructor');
    this.options = options;
  }
  admit(request) {
    request.object.metadata.labels = { touched: this.options.touched };
    act('admit', request);
    if (request.object.metadata.annotations?.be === 'validate denies slowly') {
      process.emit('team-admits');
      return once(process, 'team-continues').then(() => {});
    }
  }
  validate(request) { act('validate', request); }
}
inject(Configuration)(Team, undefined, 0);
AdmissionPlugin({ name: 'Team', configuration: Options, match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
export default contribute(Team);
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-policies-'));
  await mkdir(join(folder, 'team'));
  const manifest = { name: '@acme/team', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(folder, 'team', 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'team', 'index.js'), source);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const requestWith = (policy: object, more: Partial<PluginRequest> = {}): PluginRequest => ({
  package: './team',
  policies: new Map([['Team', readPolicy(policy, 'policies.Team')]]),
  ...more,
});

async function clusterWith(policy: object, more: Partial<PluginRequest> = {}): Promise<TestCluster> {
  return startTestCluster({ config: { plugins: await loadPlugins([requestWith(policy, more)], folder) }, quiet: true });
}

interface Outcome {
  readonly status: number;
  readonly touched: boolean;
  readonly warning: string;
  readonly notes: string;
}

async function create(cluster: TestCluster, be: string, path = maps): Promise<Outcome> {
  const name = be.replaceAll(' ', '-');
  const response = await cluster.fetch(path, { body: { metadata: { name, annotations: { be } } }, headers: { [traceHeader]: '1' } });
  const { metadata } = (await response.json()) as KubeObject;
  const trace = (await (await cluster.fetch(response.headers.get(traceHeader) ?? '')).json()) as {
    steps: { name: string; notes?: object[] }[];
  };
  const notes = trace.steps.filter((step) => step.name === 'Team').flatMap((step) => step.notes ?? []);
  return {
    status: response.status,
    touched: metadata?.labels?.['touched'] === 'yes',
    warning: response.headers.get('warning') ?? '',
    notes: JSON.stringify(notes),
  };
}

/** Returns the samples about plugins. */
async function metricsOf(cluster: TestCluster): Promise<string[]> {
  const text = await (await cluster.fetch('/metrics')).text();
  return text.split('\n').filter((line) => line.startsWith('kubenest_plugin_'));
}

const subject = 'admission plugin \\"Team\\" of package @acme/team';

describe.each(['in the server', 'in a worker thread'])('%s', (place) => {
  const more: Partial<PluginRequest> = place === 'in a worker thread' ? { isolation: 'worker' } : {};

  it('mode warn admits what the plugin denies, with a warning, and drops changes', async () => {
    await using cluster = await clusterWith({ mode: 'warn' }, more);
    for (const phase of ['admit', 'validate']) {
      const denied = await create(cluster, `${phase} denies`);
      expect(denied).toMatchObject({ status: 201, touched: false, warning: expect.stringContaining(`${subject} would deny: no team"`) });
      expect(denied.notes).toContain('"kind":"mode","name":"Team","verdict":"warned"');
    }
    expect(await create(cluster, 'admits')).toEqual({ status: 201, touched: false, warning: '', notes: '[]' });
    expect((await create(cluster, 'validate warns')).warning).toContain('from the plugin');
    expect(await create(cluster, 'validate fails')).toMatchObject({ status: 201, warning: expect.stringContaining(`${subject} failed`) });
    expect(await metricsOf(cluster)).toEqual([
      'kubenest_plugin_failures_total{package="@acme/team",plugin="Team",reason="error"} 1',
      'kubenest_plugin_violations_total{mode="warn",package="@acme/team",plugin="Team",type="admit"} 1',
      'kubenest_plugin_violations_total{mode="warn",package="@acme/team",plugin="Team",type="validate"} 1',
    ]);
  });

  it('mode enforce denies, and applies changes', async () => {
    await using cluster = await clusterWith({ mode: 'enforce' }, more);
    expect((await create(cluster, 'validate denies')).status).toBe(403);
    expect(await create(cluster, 'admits')).toMatchObject({ status: 201, touched: true, warning: '' });
  });
});

it('mode audit admits without a warning, and annotates the audit event', async () => {
  const plugins = await loadPlugins([requestWith({ mode: 'audit' })], folder);
  const log = join(folder, 'audit.log');
  const policy = join(folder, 'policy.yaml');
  await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
  await using cluster = await startTestCluster({ config: { plugins }, flags, quiet: true });
  const denied = await create(cluster, 'validate denies');
  expect(denied).toMatchObject({ status: 201, touched: false, warning: '' });
  expect(denied.notes).toContain('"verdict":"audited"');
  expect((await create(cluster, 'validate warns')).warning).toBe('');
  const annotation = '"plugins.kubenest.dev/Team":"would deny: no team"';
  await vi.waitFor(async () => expect(await readFile(log, 'utf8')).toContain(annotation));
  expect(await metricsOf(cluster)).toContain(
    'kubenest_plugin_violations_total{mode="audit",package="@acme/team",plugin="Team",type="validate"} 1',
  );
});

it('scope and exceptions select the requests for which the plugin is called', async () => {
  await using cluster = await clusterWith({
    scope: { excludedNamespaces: ['kube-*'] },
    exceptions: [
      { names: ['validate-denies'], reason: 'TICKET-1', expires: '2020-01-01T00:00:00Z' },
      { names: ['validate-denies'], reason: 'TICKET-3', expression: "object.metadata.annotations['absent'] == ''" },
      { expression: "object.metadata.annotations['be'].startsWith('admit')", reason: 'TICKET-2', expires: '9999-01-01' },
    ],
  });
  const outside = await create(cluster, 'validate denies', maps.replace('default', 'kube-system'));
  expect(outside).toMatchObject({ status: 201, touched: false });
  expect(outside.notes).toContain('"kind":"scope","name":"Team","verdict":"skipped"');
  const denied = await create(cluster, 'validate denies');
  expect(denied.status).toBe(403);
  expect(denied.notes).toContain('"name":"Team","verdict":"expired","reason":"TICKET-1: since 2020-01-01T00:00:00.000Z"');
  expect(denied.notes).toMatch(/"name":"Team","verdict":"failed","reason":"TICKET-3: [^"]*no such key/);
  const excepted = await create(cluster, 'admit denies');
  expect(excepted).toMatchObject({ status: 201, touched: false });
  expect(excepted.notes).toContain('"kind":"exception","name":"Team","verdict":"skipped","reason":"TICKET-2"');
  expect(await metricsOf(cluster)).toContain(
    'kubenest_plugin_exceptions_total{package="@acme/team",plugin="Team",reason="TICKET-2",type="admit"} 1',
  );
});

it('a scope applies to requests that are not traced, by the labels that the namespace has now and those of the object', async () => {
  const scope = {
    namespaceSelector: { matchLabels: { env: 'prod' } },
    objectSelector: { matchLabels: { app: 'web' } },
    excludedUsers: ['jo*'],
  };
  await using cluster = await startTestCluster({
    config: { plugins: await loadPlugins([requestWith({ scope })], folder) },
    quiet: true,
    users: ['jane', 'joe'].map((name) => ({ name, groups: ['system:masters'] })),
  });
  const statusOf = async (as: string, labels = { app: 'web' }): Promise<number> =>
    (await cluster.fetch(`${maps}?dryRun=All`, { as, body: { metadata: { name: 'a', labels, annotations: { be: 'admit denies' } } } }))
      .status;
  const label = async (env: string): Promise<void> => {
    const body = { metadata: { labels: { env } } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect((await cluster.fetch('/api/v1/namespaces/default', { method: 'PATCH', headers, body })).status).toBe(200);
  };
  expect(await statusOf('jane')).toBe(201);
  await label('prod');
  expect([await statusOf('jane'), await statusOf('joe'), await statusOf('jane', { app: 'db' }), await statusOf('jane')]).toEqual([
    403, 201, 201, 403,
  ]);
  await label('test');
  expect(await statusOf('jane')).toBe(201);
});

it('a policy of an unknown plugin stops the start', async () => {
  const policies = new Map([['Teams', readPolicy({}, 'p')]]);
  await expect(loadPlugins([{ package: './team', policies }], folder)).rejects.toThrow(
    'plugin package ./team: policies.Teams names no admission plugin that is loaded (Team)',
  );
});

it('/debug/plugins reports calls, failures and durations of each contribution to users who may read it', async () => {
  const policy = { mode: 'warn', exceptions: [{ names: ['validate-denies'], reason: 'r' }] };
  const plugins = await loadPlugins([requestWith(policy)], folder);
  await using cluster = await startTestCluster({ config: { plugins }, quiet: true, users: [{ name: 'jane' }] });
  for (const be of ['admits', 'validate fails', 'validate denies']) expect((await create(cluster, be)).status).toBe(201);
  const response = await cluster.fetch('/debug/plugins');
  expect(await response.json()).toEqual({
    plugins: [
      {
        package: '@acme/team',
        version: '1.0.0',
        integrity: '',
        kind: 'AdmissionPlugin',
        name: 'Team',
        mode: 'warn',
        calls: 4,
        failures: 1,
        p50: expect.any(Number),
        p99: expect.any(Number),
        exceptions: [{ source: 'configuration', reason: 'r', uses: 2 }],
      },
    ],
  });
  expect((await cluster.fetch('/debug/plugins', { as: 'jane' })).status).toBe(403);
});

/** Writes a configuration file with the package, and returns its path. */
async function configurationWith(entry: object): Promise<string> {
  const file = join(folder, 'kubenest.yaml');
  const plugins = [{ package: './team', ...entry }];
  await writeFile(file, JSON.stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins }));
  return file;
}

/** Reads a configuration file with the package, as the server does at start. */
async function configured(entry: object, flags: readonly string[] = []): Promise<ServerConfig> {
  const file = await configurationWith(entry);
  const command = await readServerOptions([`--config=${file}`, '--ephemeral', ...flags]);
  if (!('options' in command)) throw new Error('no options');
  const { config, dispose } = await completeOptions(command.options);
  await dispose();
  return config;
}

describe('the configuration file', () => {
  it('has a policy for each plugin', async () => {
    const { plugins } = await configured({ policies: { Team: { mode: 'warn' } } });
    expect(plugins?.map(({ policy }) => policy?.mode)).toEqual(['warn']);
  });

  it.each<[problem: string, entry: object, flags?: readonly string[]]>([
    [
      'kubenest.yaml: plugins[0].policies.Team.mode: mode must be one of the following values: enforce, warn, audit',
      { policies: { Team: { mode: 'on' } } },
    ],
    [
      'kubenest.yaml: plugins[0].policies.Team.exceptions[0].reason: reason should not be empty',
      { policies: { Team: { exceptions: [{ names: ['a'] }] } } },
    ],
    ['policies.Tem names no admission plugin that is loaded (Team)', { policies: { Tem: {} } }],
    ['disable-admission-plugins plugin "Teams" is unknown; did you mean Team?', {}, ['--disable-admission-plugins=Teams']],
  ])('a wrong one stops the start: %s', async (problem, entry, flags) => {
    await expect(configured(entry, flags)).rejects.toThrow(problem);
  });

  it('`kubenest plugin list` shows its contributions', async () => {
    const integrity = integrityOf(join(folder, 'team'));
    const file = await configurationWith({ integrity, policies: { Team: { mode: 'audit' } } });
    expect((await listPlugins(file)).split('\n').map((line) => line.split(/ +/))).toEqual([
      ['PACKAGE', 'VERSION', 'KIND', 'NAME', 'MODE', 'INTEGRITY'],
      ['@acme/team', '1.0.0', 'AdmissionPlugin', 'Team', 'audit', integrity],
    ]);
    await expect(listPlugins(await configurationWith({ policies: { Tem: {} } }))).rejects.toThrow('policies.Tem names no');
  });

  it('--disable-admission-plugins disables a plugin of a package', async () => {
    expect((await configured({}, ['--disable-admission-plugins=Team'])).plugins).toEqual([]);
  });
});

describe('a change of the configuration file', () => {
  /** Starts a server with the file. `change` writes the file and applies it as the server does. */
  async function started(entry: object): Promise<{ cluster: TestCluster; change(next: object): Promise<string> }> {
    const command = await readServerOptions([`--config=${await configurationWith(entry)}`, '--ephemeral']);
    if (!('options' in command)) throw new Error('no options');
    const { config, readPlugins, dispose } = await completeOptions(command.options);
    await dispose();
    const cluster = await startTestCluster({ config: { plugins: config.plugins }, quiet: true });
    const log: string[] = [];
    const app = {
      reloadPlugins: cluster.app.reloadPlugins,
      log: { info: () => log.push('reloaded'), error: ({ reason }: { reason: string }) => log.push(reason) },
    } as unknown as App;
    return {
      cluster,
      async change(next) {
        const file = await configurationWith(next);
        using _reload = reloadingPlugins(app, { pluginFiles: [file], readPlugins });
        const count = log.length;
        process.emit('SIGHUP');
        await vi.waitFor(() => expect(log.length).toBe(count + 1));
        return log.at(-1) ?? '';
      },
    };
  }

  it('applies policies and configurations to later requests; earlier ones end with the previous ones', async () => {
    const { cluster, change } = await started({ configuration: { Team: { touched: 'yes' } } });
    await using _cluster = cluster;
    const admitting = once(process, 'team-admits');
    const early = create(cluster, 'validate denies slowly');
    await admitting;
    expect(await change({ configuration: { Team: { touched: 'no' } }, policies: { Team: { mode: 'warn' } } })).toBe('reloaded');
    expect(await create(cluster, 'validate denies')).toMatchObject({ status: 201, warning: expect.stringContaining('no team') });
    (process as NodeJS.EventEmitter).emit('team-continues');
    expect((await early).status).toBe(403);
    expect(await (await cluster.fetch('/debug/plugins')).json()).toMatchObject({ plugins: [{ name: 'Team', mode: 'warn' }] });
    expect(await change({ configuration: { Team: { touched: 'no' } } })).toBe('reloaded');
    expect((await create(cluster, 'validate denies')).status).toBe(403);
    expect(await create(cluster, 'admits')).toMatchObject({ status: 201, touched: false });
    expect(await change({})).toBe('reloaded');
    expect(await create(cluster, 'admits again')).toMatchObject({ status: 201, touched: true });
  });

  it.each<[reason: string, entry: object]>([
    ['plugins[0].policies.Team.mode: mode must be one of', { policies: { Team: { mode: 'on' } } }],
    ['plugins[0]: Team.touched: touched must be a string', { policies: { Team: {} }, configuration: { Team: { touched: 1 } } }],
    ['thrown by the constructor', { policies: { Team: {} }, configuration: { Team: { touched: 'throw' } } }],
    ['plugins[0]: configuration.Tem names no plugin that is loaded', { policies: { Team: {} }, configuration: { Tem: {} } }],
    ['plugins[0]: policies.Tem names no admission plugin', { policies: { Team: {}, Tem: {} } }],
    [
      'plugins[0].configuration.Team.touched: the environment variable KUBENEST_NONE is not set',
      { policies: { Team: {} }, configuration: { Team: { touched: `\${env:KUBENEST_NONE}` } } },
    ],
    ['plugins[0].timeout: a change requires a restart', { policies: { Team: {} }, timeout: '1s' }],
  ])('changes nothing if it is wrong: %s', async (reason, entry) => {
    const { cluster, change } = await started({ policies: { Team: { mode: 'warn' } } });
    await using _cluster = cluster;
    expect(await change(entry)).toContain(reason);
    expect(await create(cluster, 'validate denies')).toMatchObject({ status: 201, touched: false });
    expect(await change({ policies: { Team: { mode: 'enforce' } } })).toBe('reloaded');
    expect((await create(cluster, 'validate denies')).status).toBe(403);
  });
});
