import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type AuditBackend,
  AuditBackendPlugin,
  type AuditEvent,
  Client,
  inject,
  PostStartHookPlugin,
  storageBackend,
  type StorageBackendOptions,
} from 'kubenest/sdk';
import { Controller, Get, Inject, Module, pages, Param } from 'kubenest/sdk/pages';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { GuardedStorage } from '#apiserver/plugins/guard-storage';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { createApp } from '#cmd/app';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-contributions-'));
  await writeFile(
    join(folder, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata, omitStages: [RequestReceived] }]\n',
  );
});
afterAll(() => rm(folder, { recursive: true }));

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): object => ({ metadata: { name } });

describe('an audit backend', () => {
  const received: AuditEvent[] = [];

  @AuditBackendPlugin({ name: 'Collecting' })
  class Collecting implements AuditBackend {
    readonly name = 'Collecting';

    process(events: readonly AuditEvent[]): boolean {
      received.push(...events);
      return true;
    }

    shutDown(): Promise<void> {
      return Promise.resolve();
    }
  }

  @AuditBackendPlugin({ name: 'Broken' })
  class Broken {
    process(): never {
      throw new TypeError('undefined is not a function');
    }
  }

  it("receives the policy's events regardless of failing backends", async () => {
    {
      await using cluster = await startTestCluster({
        flags: [`--audit-policy-file=${join(folder, 'policy.yaml')}`],
        plugins: [Broken, Collecting],
      });
      expect((await cluster.fetch(configMaps, { body: configMap('noted') })).status).toBe(201);
    }
    expect(received.find(({ verb, objectRef }) => verb === 'create' && objectRef?.name === 'noted')).toMatchObject({
      stage: 'ResponseComplete',
      user: { username: 'admin' },
    });
  });

  it('requires a policy', async () => {
    await expect(startTestCluster({ plugins: [Collecting] })).rejects.toThrow(
      'plugin Collecting: nothing is audited without --audit-policy-file',
    );
  });

  it("leaves no resources open if it prevents the server's start", async () => {
    const file = join(folder, 'left.db');
    await expect(startTestCluster({ storage: { file }, plugins: [Collecting] })).rejects.toThrow('--audit-policy-file');
    // An open store would be locked.
    await using cluster = await startTestCluster({ storage: { file } });
    expect((await cluster.fetch(configMaps, { body: configMap('later') })).status).toBe(201);
  });
});

describe('pages', () => {
  @Controller('teams')
  class TeamsController {
    constructor(@Inject(Client) private readonly client: Client) {}

    @Get(':name')
    async team(@Param('name') name: string): Promise<string> {
      const found = await this.client.get({ group: '', version: 'v1', resource: 'namespaces' }, '', name);
      return `team ${found?.metadata.name ?? 'nobody'}`;
    }
  }

  @Module({ controllers: [TeamsController] })
  class TeamsModule {}

  it('are served to authorized users and inject plugin services', async () => {
    await using cluster = await startTestCluster({
      listen: true,
      users: [{ name: 'eve' }],
      plugins: [pages({ name: 'Teams', module: TeamsModule })],
    });
    expect(await getPage(cluster, '/teams/default', 'admin')).toEqual({ status: 200, body: 'team default' });
    expect((await getPage(cluster, '/teams/default', 'eve')).status).toBe(403);
  });

  async function getPage(cluster: TestCluster, path: string, user: string): Promise<{ status: number; body: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { authorization: `Bearer ${cluster.token(user)}` };
    https.get(`${cluster.url}${path}`, { ca: cluster.certificateAuthority, headers }, resolve).on('error', reject);
    const response = await promise;
    return { status: response.statusCode ?? 0, body: await text(response) };
  }
});

it("the client acts as a user with the user's permissions", async () => {
  let answers: unknown;

  @PostStartHookPlugin({ name: 'Acting' })
  class Acting {
    constructor(@inject(Client) private readonly client: Client) {}

    async run(): Promise<void> {
      const target = { group: '', version: 'v1', resource: 'configmaps' };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: 'mine' } };
      const admin = this.client.asUser({ name: 'root', groups: ['system:masters'] });
      const namespaces = { ...target, resource: 'namespaces' };
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } });
      const refused = await this.client
        .asUser({ name: 'eve', groups: [] })
        .create(target, object)
        .catch((error: Error) => error.message);
      const made = await admin.create(target, object);
      const updated = await admin.update(target, 'mine', 'made', (current) => ({ ...current, data: { a: 'b' } }));
      await admin.delete(target, 'mine', 'made');
      answers = { refused, made: made.metadata.name, data: updated?.['data'], left: await admin.get(target, 'mine', 'made') };
    }
  }

  await using _cluster = await startTestCluster({ plugins: [Acting] });
  await vi.waitFor(() => expect(answers).toBeDefined());
  expect(answers).toEqual({
    refused: 'configmaps is forbidden: User "eve" cannot create resource "configmaps" in API group "" in the namespace "mine"',
    made: 'made',
    data: { a: 'b' },
    left: undefined,
  });
});

describe('a storage backend', () => {
  const opened: object[] = [];
  class MineConfiguration {
    file = ':memory:';
  }
  const mine = storageBackend<MineConfiguration>({
    name: 'Mine',
    configuration: MineConfiguration,
    open(configuration) {
      opened.push(configuration);
      return EmbeddedStorage.open({ file: undefined });
    },
  });

  it('is opened with its configuration', async () => {
    const contribution = contributionOf(mine);
    const { open } = contribution.described.options as StorageBackendOptions;
    await using cluster = await startTestCluster({
      config: {
        storage: {
          backend: 'contributed',
          open: (failures) => GuardedStorage.open(() => open(contribution.configuration as object), contribution, failures),
        },
      },
    });
    expect((await cluster.fetch(configMaps, { body: configMap('kept') })).status).toBe(201);
    expect((await cluster.fetch(`${configMaps}/kept`)).status).toBe(200);
    expect(opened).toEqual([{ file: ':memory:' }]);
  });

  it.each([
    { name: 'Mine', says: undefined },
    { name: 'Other', says: 'no package of the configuration file adds the storage backend Other' },
    { name: 'other', says: 'no package of the configuration file adds the storage backend other' },
  ])('$name is selected by --storage-backend', async ({ name, says }) => {
    const where = join(folder, name);
    await mkdir(where);
    await writeFile(
      join(where, 'package.json'),
      JSON.stringify({ name: 'mine', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } }),
    );
    await writeFile(
      join(where, 'index.js'),
      `import { contribute, storageBackend } from 'kubenest/sdk';
export default contribute(storageBackend({ name: 'Mine', open: () => Promise.reject(new Error('no disk today')) }));`,
    );
    const config = { apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins: [{ package: './' }] };
    await writeFile(join(where, 'kubenest.yaml'), JSON.stringify(config));
    const command = await readServerOptions([
      `--config=${join(where, 'kubenest.yaml')}`,
      `--data-dir=${where}`,
      `--storage-backend=${name}`,
    ]);
    if (!('options' in command)) throw new Error('unexpected start of a server');
    const completed = completeOptions(command.options);
    if (says !== undefined) return void (await expect(completed).rejects.toThrow(says));
    const { config: made, dispose } = await completed;
    await expect(createApp(made)).rejects.toThrow(/^storage backend "Mine" of package .*: no disk today/);
    await dispose();
  });
});
