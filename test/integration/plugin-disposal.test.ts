import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import type { PluginRequest } from '#apiserver/plugins/plugin-request';
import { startTestCluster, type TestCluster } from '#testing/index';

/** Writes what happens to each instance to a file, also from a worker thread. */
const source = `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdmissionPlugin, AuthenticatorPlugin, Configuration, Controller, contribute, inject } from 'kubenest/sdk';
const record = (text) => appendFileSync(new URL('events', import.meta.url), text + '\\n');
import { IsString } from 'kubenest/sdk/configuration';
class Options { name = 'first'; }
IsString()(Options.prototype, 'name');
class Team {
  constructor(options) { this.name = options.name; }
  async admit() { record(this.name + ' admits'); await sleep(200); }
  validate() { record(this.name + ' validates'); }
  async dispose() {
    record(this.name + ' is disposed of');
    if (this.name === 'hangs') await new Promise(() => {});
    if (this.name === 'throws') throw new Error('broken');
  }
}
inject(Configuration)(Team, undefined, 0);
AdmissionPlugin({ name: 'Team', configuration: Options, match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
class Keys { authenticate() {} [Symbol.dispose]() { record('the authenticator is disposed of'); } }
AuthenticatorPlugin({ name: 'Keys' })(Keys);
class Follows { async run(signal) { await new Promise((end) => signal.addEventListener('abort', end)); } async [Symbol.asyncDispose]() { record('the controller is disposed of'); } }
Controller({ name: 'follows' })(Follows);
export default contribute(Team, Keys, Follows);
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-disposal-'));
  await mkdir(join(folder, 'team'));
  const manifest = { name: '@acme/team', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(folder, 'team', 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'team', 'index.js'), source);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => writeFile(join(folder, 'team', 'events'), ''));

const events = async (): Promise<string[]> => (await readFile(join(folder, 'team', 'events'), 'utf8')).split('\n').slice(0, -1);

async function started(more: Partial<PluginRequest>): Promise<{ cluster: TestCluster; configure(name: string): void }> {
  const plugins = await loadPlugins([{ package: './team', ...more }], folder);
  const cluster = await startTestCluster({ config: { plugins }, quiet: true });
  const [team] = plugins;
  return {
    cluster,
    configure: (name) => cluster.app.reloadPlugins([{ ...team!, ...team!.reconfigure?.({ name }) }]),
  };
}

const create = async (cluster: TestCluster, name: string): Promise<number> =>
  (await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name } } })).status;

it('a replaced instance is disposed of after the last request that uses it, all others when the server ends', async () => {
  const { cluster, configure } = await started({});
  {
    await using _cluster = cluster;
    const early = create(cluster, 'early');
    await vi.waitFor(async () => expect(await events()).toEqual(['first admits']));
    configure('second');
    const late = create(cluster, 'late');
    expect(await Promise.all([early, late])).toEqual([201, 201]);
    await vi.waitFor(async () => expect(await events()).toHaveLength(5));
    expect((await events()).filter((event) => event.startsWith('first'))).toEqual([
      'first admits',
      'first validates',
      'first is disposed of',
    ]);
  }
  const last = (await events()).slice(5);
  expect(last.toSorted()).toEqual(['second is disposed of', 'the authenticator is disposed of', 'the controller is disposed of']);
});

it.each([
  ['hangs', 'timeout'],
  ['throws', 'error'],
])('a `dispose` that %s is a failure of the plugin', async (name, reason) => {
  const { cluster, configure } = await started({ contributions: ['Team'], guard: { timeoutMs: 300 } });
  await using _cluster = cluster;
  configure(name);
  configure('next');
  const line = `kubenest_plugin_failures_total{package="@acme/team",plugin="Team",reason="${reason}"} 1`;
  await vi.waitFor(async () => expect(await (await cluster.fetch('/metrics')).text()).toContain(line));
  expect(await create(cluster, 'a')).toBe(201);
});

it('an instance in a worker thread is disposed of when the server ends', async () => {
  const { cluster } = await started({ contributions: ['Team'], isolation: 'worker' });
  {
    await using _cluster = cluster;
    expect(await create(cluster, 'a')).toBe(201);
  }
  expect(await events()).toEqual(['first admits', 'first validates', 'first is disposed of']);
});
