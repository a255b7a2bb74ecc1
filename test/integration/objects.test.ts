import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

describe('objects', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());
  const configMaps = '/api/v1/namespaces/default/configmaps';

  it('are created, read, updated, patched and deleted', async () => {
    const created = await cluster.fetch(configMaps, { body: { metadata: { name: 'a' }, data: { k: '1' } } });
    expect(created.status).toBe(201);
    const object = (await created.json()) as { metadata: { resourceVersion: string }; data: object };
    const updated = await cluster.fetch(`${configMaps}/a`, { method: 'PUT', body: { ...object, data: { k: '2' } } });
    expect(updated.status).toBe(200);
    const stale = await cluster.fetch(`${configMaps}/a`, { method: 'PUT', body: object });
    expect(stale.status).toBe(409);
    const patched = await cluster.fetch(`${configMaps}/a`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: { more: '3' } },
    });
    expect(((await patched.json()) as { data: object }).data).toEqual({ k: '2', more: '3' });
    expect((await cluster.fetch(`${configMaps}/a`, { method: 'DELETE' })).status).toBe(200);
    expect((await cluster.fetch(`${configMaps}/a`)).status).toBe(404);
  });

  it('are unchanged by a write that would only change the times of managedFields', async () => {
    // Sent as 1000m and stored as 1: each apply merges a difference that finally has no effect.
    const apply = async (hard: object) => {
      const answer = await cluster.fetch('/api/v1/namespaces/default/resourcequotas/timed?fieldManager=a&force=true', {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'timed' }, spec: { hard } },
      });
      const object = (await answer.json()) as { metadata: { resourceVersion: string } };
      expect([200, 201], JSON.stringify(object)).toContain(answer.status);
      return object.metadata.resourceVersion;
    };
    const first = await apply({ cpu: '1000m', pods: '1' });
    const second = (): number => Math.floor(Date.now() / 1_000);
    const before = second();
    // The times of managedFields are whole seconds.
    await expect.poll(second, { timeout: 5_000 }).toBeGreaterThan(before);
    expect(await apply({ cpu: '1000m', pods: '1' })).toBe(first);
    // Differs with the same length, after the times.
    expect(await apply({ cpu: '1000m', pods: '2' })).not.toBe(first);
  });

  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const resourceSlices = '/apis/resource.k8s.io/v1/resourceslices';
  const device = (attribute: object) => ({
    metadata: { name: 's' },
    spec: {
      driver: 'd.example.com',
      nodeName: 'n',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'd', attributes: { a: attribute } }],
    },
  });
  it.each<[what: string, path: string, body: object, code: number, answer: object]>([
    [
      'a null for a list that is always present',
      slices,
      { metadata: { name: 'e' }, addressType: 'IPv4', endpoints: [], ports: [] },
      201,
      { endpoints: null, ports: null },
    ],
    [
      'a list with another default that is set to empty',
      '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
      {
        metadata: { name: 'h' },
        spec: { maxReplicas: 1, scaleTargetRef: { kind: 'A', name: 'a' }, behavior: { scaleUp: { policies: [] } } },
      },
      422,
      { message: expect.stringContaining('spec.behavior.scaleUp.policies: Required value: must specify at least one Policy') },
    ],
    ['a list of a disabled feature that is dropped', resourceSlices, device({ string: 'a', bools: [] }), 201, device({ string: 'a' })],
    [
      'a value that consists only of such a list',
      resourceSlices,
      device({ bools: [true] }),
      422,
      { message: expect.stringContaining('spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified') },
    ],
    [
      'an empty map that counts as set and is rejected',
      '/api/v1/namespaces/default/pods',
      { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'a' }], overhead: {} } },
      403,
      { message: expect.stringContaining('Pod Overhead set without corresponding RuntimeClass defined Overhead') },
    ],
  ])('with empty values, as after upstream has stored them: %s', async (_, path, body, code, answer) => {
    const response = await cluster.fetch(`${path}?dryRun=All`, { body });
    expect({ code: response.status, ...((await response.json()) as object) }).toMatchObject({ code, ...answer });
  });

  it('can be watched', async () => {
    const leave = new AbortController();
    const watch = await cluster.fetch(`${configMaps}?watch=1`, { signal: leave.signal });
    await cluster.fetch(configMaps, { body: { metadata: { name: 'watched' } } });
    const reader = (watch.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('"watched"')) text += Buffer.from((await reader.read()).value ?? new Uint8Array()).toString();
    expect(JSON.parse(text.trim().split('\n').at(-1) as string)).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'watched' } },
    });
    await reader.cancel();
    leave.abort();
  });

  it('get a generated name', async () => {
    const created = await cluster.fetch(configMaps, { body: { metadata: { generateName: 'base-' } } });
    expect(((await created.json()) as { metadata: { name: string } }).metadata.name).toMatch(/^base-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('are inaccessible for anonymous users', async () => {
    expect((await cluster.fetch(configMaps, { as: null })).status).toBe(403);
  });
});
