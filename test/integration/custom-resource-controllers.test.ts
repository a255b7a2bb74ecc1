import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, inject, type ReconcileRequest, SharedInformers } from 'kubenest/sdk';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const resource = { group: 'acme.example.com', version: 'v1', resource: 'vaults', kind: 'Vault' } as const;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const vaults = '/apis/acme.example.com/v1/namespaces/default/vaults';
const reconciled = new Set<string>();
/** Names of the objects that the informer of the controller has. */
let known: () => (string | undefined)[] = () => [];

@Controller({ name: 'vault-controller', for: resource, rules: [] })
class VaultController {
  constructor(@inject(SharedInformers) informers: SharedInformers) {
    // The resource is served once the controllers run.
    known = () =>
      informers
        .for(resource)
        .list()
        .map(({ metadata }) => metadata.name);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    reconciled.add(name);
  }
}

const names = { plural: 'vaults', singular: 'vault', kind: 'Vault', listKind: 'VaultList' };
const schema = (properties: object) => ({ openAPIV3Schema: { type: 'object', properties } });
const definition = {
  metadata: { name: 'vaults.acme.example.com' },
  spec: {
    group: resource.group,
    scope: 'Namespaced',
    names,
    versions: [{ name: 'v1', served: true, storage: true, schema: schema({ spec: { type: 'object' } }) }],
  },
};

let folder: string;
let cluster: TestCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-vaults-'));
  const storage = { file: join(folder, 'store.db') };
  // A controller waits for the definition of its custom resource, and follows the resource at once if the definition is in the store.
  cluster = await startTestCluster({ storage, plugins: [VaultController] });
  expect((await cluster.fetch(definitions, { body: definition })).status).toBe(201);
  await create('early');
  await vi.waitUntil(() => reconciled.has('early'));
  expect((await cluster.fetch(`${vaults}/early`, { method: 'DELETE' })).status).toBe(200);
  await cluster[Symbol.asyncDispose]();
  cluster = await startTestCluster({ storage, plugins: [VaultController] });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const create = async (name: string): Promise<void> => {
  await vi.waitUntil(
    async () =>
      (await cluster.fetch(vaults, { body: { apiVersion: 'acme.example.com/v1', kind: 'Vault', metadata: { name } } })).status === 201,
  );
};
const expectKnown = async (...all: string[]): Promise<void> => {
  await vi.waitFor(() => expect(known().sort()).toEqual(all));
  for (const name of all) expect(reconciled).toContain(name);
};

it('a controller follows a custom resource through changes of its definition', { timeout: 120_000 }, async () => {
  await create('first');
  await expectKnown('first');
  const versions = [
    { ...definition.spec.versions[0], schema: schema({ spec: { type: 'object', properties: { a: { type: 'string' } } } }) },
  ];
  const headers = { 'content-type': 'application/merge-patch+json' };
  const path = `${definitions}/vaults.acme.example.com`;
  expect((await cluster.fetch(path, { method: 'PATCH', headers, body: { spec: { versions } } })).status).toBe(200);
  await create('after-change');
  await expectKnown('after-change', 'first');
  expect((await cluster.fetch(path, { method: 'DELETE' })).status).toBe(200);
  await vi.waitUntil(async () => (await cluster.fetch(path)).status === 404);
  await expectKnown();
  expect((await cluster.fetch(definitions, { body: definition })).status).toBe(201);
  await create('after-return');
  await expectKnown('after-return');
});
