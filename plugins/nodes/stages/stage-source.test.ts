import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Pod } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { NodeShape, SimulatedNodesOptions } from '../options.ts';
import { SimulatedNodes } from '../simulated-nodes.ts';

const definition = newDefinition({
  kind: 'Stage',
  group: 'kwok.x-k8s.io',
  scope: 'Cluster',
  versions: ['v1alpha1'],
  annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
});
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const stages = '/apis/kwok.x-k8s.io/v1alpha1/stages';
const pods = '/api/v1/namespaces/default/pods';
/** Marks pods of an app once, and keeps them from their built-in life. */
const stage = (name: string, kind = 'Pod'): object => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: {
    resourceRef: { apiGroup: 'v1', kind },
    selector: { matchLabels: { app: 'staged' }, matchExpressions: [{ key: '.status.message', operator: 'NotIn', values: [name] }] },
    next: { statusTemplate: `message: ${name}` },
  },
});

let cluster: TestCluster;
beforeAll(async () => {
  const configuration = Object.assign(new SimulatedNodesOptions(), { nodes: [new NodeShape()] });
  cluster = await startTestCluster({ plugins: [{ plugin: SimulatedNodes, configuration }] });
  await vi.waitFor(async () => expect((await cluster.fetch('/api/v1/nodes/node-1')).status).toBe(200));
});
afterAll(() => cluster[Symbol.asyncDispose]());

async function ask(...args: Parameters<TestCluster['fetch']>): Promise<unknown> {
  const response = await cluster.fetch(...args);
  expect(response.status, args[0]).toBeLessThan(300);
  return response.json();
}
const messageOf = async (name: string): Promise<string | undefined> => ((await ask(`${pods}/${name}`)) as Pod).status?.message;
const hasMessage = (name: string, message: string): Promise<void> => vi.waitFor(async () => expect(await messageOf(name)).toBe(message));

it('applies the stages of the cluster while their definition is installed', async () => {
  const body = {
    metadata: { name: 'a', labels: { app: 'staged' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  };
  await ask(pods, { body });
  await vi.waitFor(async () => expect(((await ask(`${pods}/a`)) as Pod).status?.phase).toBe('Running'));
  expect(await messageOf('a')).toBeUndefined();
  await ask(definitions, { body: definition });
  await vi.waitFor(async () => expect((await cluster.fetch(stages)).status).toBe(200));
  // A stage of another kind is left out.
  await ask(stages, { body: stage('node', 'Node') });
  await ask(stages, { body: stage('one') });
  await hasMessage('a', 'one');
  const headers = { 'content-type': 'application/merge-patch+json' };
  await ask(`${stages}/one`, { method: 'PATCH', headers, body: { spec: { next: { statusTemplate: 'message: one\nreason: Changed' } } } });
  await ask(pods, { body: { ...body, metadata: { ...body.metadata, name: 'b' } } });
  await vi.waitFor(async () => expect(((await ask(`${pods}/b`)) as Pod).status?.reason).toBe('Changed'));
  await ask(`${definitions}/stages.kwok.x-k8s.io`, { method: 'DELETE' });
  await vi.waitFor(async () => expect((await cluster.fetch(stages)).status).toBe(404));
  await ask(pods, { body: { ...body, metadata: { ...body.metadata, name: 'c' } } });
  await vi.waitFor(async () => expect(((await ask(`${pods}/c`)) as Pod).status?.phase).toBe('Running'));
});
