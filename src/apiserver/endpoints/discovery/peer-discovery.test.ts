import { describe, expect, it } from 'vitest';
import type { ApiResourceDiscovery, ApiVersionDiscovery } from './aggregated-form.ts';
import { mergeDiscovery, mergeOrder } from './peer-discovery.ts';

describe('mergeOrder', () => {
  it.each([
    ['no lists', [], []],
    [
      'a list with all names',
      [
        ['b', 'a', 'c'],
        ['b', 'c'],
      ],
      ['b', 'a', 'c'],
    ],
    [
      'names without an order',
      [
        ['a', 'c'],
        ['b', 'c'],
      ],
      ['a', 'b', 'c'],
    ],
    [
      'names between others',
      [
        ['a', 'd'],
        ['a', 'c', 'd', 'e'],
        ['b', 'c'],
      ],
      ['a', 'b', 'c', 'd', 'e'],
    ],
    [
      'lists that contradict each other',
      [
        ['b', 'a', 'x'],
        ['a', 'b', 'c'],
      ],
      ['a', 'b', 'c', 'x'],
    ],
  ])('%s', (_, lists, order) => expect(mergeOrder(lists)).toEqual(order));
});

describe('mergeDiscovery', () => {
  const resource = (name: string, verbs: string[], subresources: string[] = []): ApiResourceDiscovery => ({
    resource: name,
    responseKind: { group: '', version: '', kind: name },
    scope: 'Namespaced',
    singularResource: '',
    verbs,
    ...(subresources.length > 0 && {
      subresources: subresources.map((one) => ({ subresource: one, responseKind: { group: '', version: '', kind: one }, verbs: ['get'] })),
    }),
  });
  const version = (name: string, ...resources: ApiResourceDiscovery[]): ApiVersionDiscovery => ({
    version: name,
    resources,
    freshness: 'Current',
  });
  const group = (name: string, ...versions: ApiVersionDiscovery[]) => ({ metadata: { name }, versions });
  const jobs = resource('jobs', ['get']);

  it('adds the groups, versions and resources that only peers have', () => {
    const own = [group('batch', version('v1', jobs))];
    const peer = [
      group('batch', version('v2', jobs), version('v1', jobs, resource('queues', ['list']))),
      group('new.example', version('v1', jobs)),
    ];
    expect(
      mergeDiscovery([
        { id: 'b', groups: own },
        { id: 'a', groups: peer },
      ]),
    ).toEqual(peer);
    expect(mergeDiscovery([{ id: 'b', groups: own }])).toEqual(own);
  });

  it('combines the verbs and subresources of a resource', () => {
    const [merged] = mergeDiscovery([
      { id: 'a', groups: [group('apps', version('v1', resource('things', ['list', 'get'], ['status'])))] },
      { id: 'b', groups: [group('apps', version('v1', resource('things', ['get', 'create'], ['scale'])))] },
    ]);
    expect(merged).toEqual(group('apps', version('v1', resource('things', ['create', 'get', 'list'], ['scale', 'status']))));
  });
});
