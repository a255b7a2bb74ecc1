import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { apiGroup, defineResource, type JsonSchemaProps } from 'kubenest/sdk';
import { kubeApiserver } from '../../servers/kube-apiserver.ts';
import { Kubenest } from '../../servers/kubenest.ts';
import { type FormRequest, isOutside, requestsOf, type ServedResource } from './forms.ts';
import { discover, play, prepare, type Target } from './play.ts';
import { readRecorded } from './recorded.ts';
import { askReference, eachOf } from './reference.ts';

const schema: JsonSchemaProps = { type: 'object', properties: { spec: { type: 'object' } } };
const versions = [{ name: 'v1', schema }];
const contributed = apiGroup({
  name: 'Forms',
  group: 'contributed.example.com',
  resources: [
    defineResource({ kind: 'Ledger', resource: 'ledgers', versions }),
    defineResource({ kind: 'Vault', resource: 'vaults', versions, namespaced: false }),
  ],
});
const timeout = 480_000;

/** Reduces a status to the routing result, independent of errors in the body. */
const routeOf = (status: number): string => (status === 403 || status === 404 || status === 405 ? String(status) : 'served');
const shown = ({ user, method, path }: FormRequest): string => `${user} ${method} ${path}`;

describe('requests in every form of path', () => {
  const { resources, statuses: recorded } = readRecorded();
  const requests = requestsOf(resources);
  let folder: string;
  let server: Kubenest;
  let target: Target;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'request-forms-'));
    const flags = ['--ephemeral', '--enable-admission-plugins=ServiceAccount', '--endpoint-reconciler-type=none'];
    server = await Kubenest.start(folder, flags, { 'one-namespace-token': 'one-namespace,one' });
    target = { port: server.port, tokens: { admin: 'admin-token', 'one-namespace': 'one-namespace-token' } };
    await prepare(target);
  }, timeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are more than 20,000, all recorded', () => {
    expect(requests.length).toBeGreaterThan(20_000);
    expect(recorded).toHaveLength(requests.length);
  });

  it('have the same statuses as on kube-apiserver', { timeout }, async () => {
    const statuses = await play(target, requests);
    const different = requests.flatMap((request, i) =>
      statuses[i] === recorded[i] ? [] : [`${shown(request)}: ${statuses[i]}, kube-apiserver ${recorded[i]}`],
    );
    expect(different).toEqual([]);
  });

  // A sample: `record.ts` sends all of them.
  it.skipIf(kubeApiserver === undefined)('have the recorded statuses on a live kube-apiserver', { timeout }, async () => {
    expect(await askReference(7)).toEqual({ resources, statuses: eachOf(recorded, 7) });
  });
});

describe('resources that kube-apiserver lacks', () => {
  let cluster: TestCluster;
  let target: Target;
  beforeAll(async () => {
    cluster = await startTestCluster({ listen: true, quiet: true, plugins: [contributed], users: [{ name: 'one-namespace' }] });
    target = {
      port: Number(new URL(cluster.url as string).port),
      tokens: { admin: cluster.token('admin'), 'one-namespace': cluster.token('one-namespace') },
    };
    await prepare(target);
  }, timeout);
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('are inaccessible for a user of one namespace in every form of path', { timeout }, async () => {
    const known = new Set(readRecorded().resources.map(({ root, resource }) => `${root}/${resource}`));
    const own = (await discover(target)).filter(({ root, resource }) => !known.has(`${root}/${resource}`));
    expect(own.map(({ resource }) => resource)).toEqual(expect.arrayContaining(['ledgers', 'vaults']));
    const requests = requestsOf(own).filter(isOutside);
    const statuses = await play(target, requests);
    expect(requests.filter((_, i) => statuses[i]! < 400).map(shown)).toEqual([]);
  });

  it.each([
    ['ledgers', 'podtemplates', '/api/v1', true],
    ['vaults', 'runtimeclasses', '/apis/node.k8s.io/v1', false],
  ])('%s of a plugin are routed like %s', { timeout }, async (resource, builtIn, root, namespaced) => {
    const formsOf = (served: ServedResource): FormRequest[] =>
      requestsOf([served]).filter(({ path }) => path.startsWith(`${served.root}/`));
    const ours = formsOf({ root: '/apis/contributed.example.com/v1', resource, namespaced, subresources: [] });
    const theirs = formsOf({ root, resource: builtIn, namespaced, subresources: [] });
    const statuses = await play(target, ours);
    const expected = await play(target, theirs);
    expect(
      ours.flatMap((request, i) =>
        routeOf(statuses[i]!) === routeOf(expected[i]!) ? [] : [`${shown(request)}: ${statuses[i]}, not ${expected[i]}`],
      ),
    ).toEqual([]);
  });
});
