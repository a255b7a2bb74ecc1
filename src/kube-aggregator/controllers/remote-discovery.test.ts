import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import { aggregatedVersions, classicResources, isAggregated } from './remote-discovery.ts';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

it.each([
  ['application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', true],
  ['application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList', true],
  ['application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList', false],
  ['application/json', false],
])('is aggregated discovery or not: %s, %s', (contentType, want) => {
  expect(isAggregated(contentType)).toBe(want);
});

describe('aggregated discovery', () => {
  it('is indexed by group version; absent kinds are empty', async () => {
    const resource = {
      resource: 'things',
      scope: 'Cluster',
      singularResource: 'thing',
      verbs: ['get'],
      subresources: [{ subresource: 'x', verbs: ['get'] }],
    };
    const list = { items: [{ metadata: { name: 'a.io' }, versions: [{ version: 'v1', resources: [resource], unknown: 1 }] }] };
    const noKind = { group: '', version: '', kind: '' };
    expect((await aggregatedVersions(bytes(list))).get('a.io/v1')).toEqual({
      version: 'v1',
      resources: [{ ...resource, responseKind: noKind, subresources: [{ subresource: 'x', verbs: ['get'], responseKind: noKind }] }],
    });
  });

  it.each([
    { name: 'a text', body: Buffer.from('hello') },
    { name: 'members of the wrong type', body: bytes({ items: [{ versions: 'v1' }] }) },
    { name: 'a million values', body: bytes({ items: Array.from({ length: 1_000_000 }, () => ({})) }) },
  ])('is rejected: $name', async ({ body }) => {
    await expect(aggregatedVersions(body)).rejects.toThrow(Error);
  });

  it('is rejected without the cost of its values', async () => {
    const body = Buffer.from(`{"resources":[${'{},'.repeat(5_000_000)}{}]}`);
    const began = threadMilliseconds();
    await expect(classicResources(body)).rejects.toThrow('the document has more than 500000 values');
    // Parsing it takes 30 s.
    expect(threadMilliseconds() - began).toBeLessThan(1_000);
  });
});

it.each([
  { name: 'aggregated', read: aggregatedVersions, body: { items: Array(60_000).fill({ metadata: { name: 'a.io' } }) } },
  { name: 'unaggregated', read: classicResources, body: { resources: Array(60_000).fill({ name: 'a' }) } },
])('a large document yields to the event loop: $name', async ({ read, body }) => {
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns++;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  await read(bytes(body));
  isRead = true;
  expect(turns).toBeGreaterThan(5);
});

it('assigns subresources of the unaggregated form to their resource', async () => {
  const resources = [
    { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'], shortNames: ['th'] },
    { name: 'things/scale', singularName: '', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
    { name: 'orphans/status', singularName: '', namespaced: true, kind: 'Orphan', verbs: ['get'] },
  ];
  expect(await classicResources(bytes({ kind: 'APIResourceList', groupVersion: 'a.io/v1', resources }))).toEqual([
    {
      resource: 'things',
      responseKind: { group: '', version: '', kind: 'Thing' },
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get'],
      shortNames: ['th'],
      subresources: [{ subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get'] }],
    },
  ]);
});
