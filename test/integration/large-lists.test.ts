import { Buffer } from 'node:buffer';
import https from 'node:https';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processBudgets } from '#apiserver/endpoints/handlers/process-budgets';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, kind, sized, widget } from './custom-kinds.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const partial = (version: string): string => `as=PartialObjectMetadataList;v=${version};g=meta.k8s.io`;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const configMaps = '/api/v1/namespaces/default/configmaps';
const { largeLists } = processBudgets;
const widgets = kind(sized);
const autoscalers = '/apis/autoscaling/v1/horizontalpodautoscalers';

/** More than a leaf holds, so that lists have several runs; one object takes several steps. */
const count = 300;

describe('an incrementally encoded list', () => {
  let cluster: TestCluster;
  const { mostKept } = largeLists;
  beforeAll(async () => {
    cluster = await startTestCluster({ listen: true });
    const create = async (path: string, body: object): Promise<void> => {
      expect((await cluster.fetch(path, { body })).status).toBe(201);
    };
    for (let i = 0; i < count; i++)
      await create(configMaps, { metadata: { name: `c-${i}`, labels: { half: `${i % 2}` } }, data: { k: `ä${i}` } });
    await create(configMaps, { metadata: { name: 'large' }, data: { k: 'x'.repeat(300_000) } });
    await customKinds(cluster).define(widgets);
    for (const name of ['a', 'b']) await create(widgets.path(), widget(widgets, name));
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' }, maxReplicas: 2 };
    await create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', { metadata: { name: 'h' }, spec });
  });
  afterAll(async () => {
    largeLists.mostKept = mostKept;
    await cluster[Symbol.asyncDispose]();
  });

  /** Returns the responses in process and over a connection. */
  async function answers(path: string, headers: Record<string, string>): Promise<readonly Buffer[]> {
    const within = await cluster.fetch(path, { headers });
    expect(within.status).toBe(200);
    const overTls = await new Promise<Buffer>((resolve, reject) => {
      const authorization = `Bearer ${cluster.token('admin')}`;
      https
        .get(
          `${cluster.url}${path}`,
          { ca: cluster.certificateAuthority, agent: false, headers: { ...headers, authorization } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject).on('end', () => {
              expect(response.headers['content-length']).toBe(String(Buffer.concat(chunks).length));
              resolve(Buffer.concat(chunks));
            });
          },
        )
        .on('error', reject);
    });
    return [Buffer.from(await within.arrayBuffer()), overTls];
  }

  it.each([
    { name: 'JSON', path: configMaps, accept: 'application/json' },
    { name: 'protobuf', path: configMaps, accept: protobuf },
    { name: 'protobuf of all namespaces', path: '/api/v1/configmaps', accept: protobuf },
    { name: 'a page', path: `${configMaps}?limit=250`, accept: protobuf },
    { name: 'a selection', path: `${configMaps}?labelSelector=half=1`, accept: protobuf },
    { name: 'no items as JSON', path: `${configMaps}?labelSelector=half=2`, accept: 'application/json' },
    { name: 'no items', path: `${configMaps}?labelSelector=half=2`, accept: protobuf },
    { name: 'metadata as JSON', path: configMaps, accept: `application/json;${partial('v1')}` },
    { name: 'no metadata', path: `${configMaps}?labelSelector=half=2`, accept: `application/json;${partial('v1')}` },
    { name: 'metadata as protobuf', path: configMaps, accept: `${protobuf};${partial('v1')}` },
    { name: 'metadata as protobuf, the older', path: configMaps, accept: `${protobuf};${partial('v1beta1')}` },
    { name: 'another version', path: autoscalers, accept: 'application/json' },
    { name: 'another version as protobuf', path: autoscalers, accept: protobuf },
    { name: 'custom resources', path: widgets.path(), accept: 'application/json' },
    { name: 'metadata of custom resources as protobuf', path: widgets.path(), accept: `${protobuf};${partial('v1')}` },
  ])('equals the complete encoding: $name', async ({ path, accept }) => {
    const headers = { accept };
    const gzip = { accept, 'accept-encoding': 'gzip' };
    largeLists.mostKept = -1;
    const made = [...(await answers(path, headers)), ...(await answers(path, headers))];
    const compressed = await answers(path, gzip);
    largeLists.mostKept = mostKept;
    const [whole] = (await answers(path, headers)) as [Buffer];
    expect(whole.length).toBeGreaterThan(40);
    largeLists.mostKept = -1;
    for (const answer of [...made, ...compressed.map((bytes) => gunzipSync(bytes)), ...(await answers(path, headers))])
      expect(answer.equals(whole)).toBe(true);
  });

  it('is buffered if it turns out to be small', async () => {
    const headers = { accept: `${protobuf};${partial('v1')}` };
    largeLists.mostKept = -1;
    const [made] = (await answers(configMaps, headers)) as [Buffer];
    // Less than the stored size, more than the encoded size.
    largeLists.mostKept = 200_000;
    for (const answer of await answers(configMaps, headers)) expect(answer.equals(made)).toBe(true);
    expect(made.length).toBeLessThan(200_000);
  });

  it.each([
    { encoding: 'identity', opened: (bytes: Buffer) => bytes },
    { encoding: 'gzip', opened: (bytes: Buffer) => gunzipSync(bytes) },
  ])('is a table with current ages: $encoding', async ({ encoding, opened }) => {
    largeLists.mostKept = -1;
    for (const answer of await answers(configMaps, { accept: table, 'accept-encoding': encoding })) {
      const { rows } = JSON.parse(opened(answer).toString()) as { rows: { cells: string[]; object: { metadata: { name: string } } }[] };
      expect(rows).toHaveLength(count + 1);
      for (const { cells, object } of rows) expect([cells[0], cells[2]]).toEqual([object.metadata.name, expect.stringMatching(/^\d+[sm]/)]);
    }
  });
});
