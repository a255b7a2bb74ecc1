import { partialObject } from '../common/testing/partial-object.ts';
import type { Node } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { allocationsOf, transfersOf, isOverloaded, zoneShares } from './zone-allocations.ts';

const node = (zone: string | undefined, cpu: string, ready = 'True', labels: object = {}): Node =>
  partialObject({
    metadata: { name: 'n', labels: { ...labels, ...(zone && { 'topology.kubernetes.io/zone': zone }) } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
  }) as unknown as Node;
const control = { 'node-role.kubernetes.io/control-plane': '' };

describe('the shares of zones', () => {
  it.each<[string, Node[], object | undefined]>([
    ['are those of the CPUs', [node('a', '1'), node('b', '2500m'), node('b', '500m')], { a: 0.25, b: 0.75 }],
    [
      'do not count nodes that are not ready, and those of the control plane',
      [node('a', '1'), node('b', '1'), node('c', '1', 'False'), node(undefined, '1', 'True', control)],
      { a: 0.5, b: 0.5 },
    ],
    ['are unknown if a node has no zone', [node('a', '1'), node('b', '1'), node(undefined, '1')], undefined],
    ['are unknown if a node has no CPUs', [node('a', '1'), node('b', '0')], undefined],
    ['are unknown with a single zone', [node('a', '1'), node('a', '1')], undefined],
  ])('%s', (_, nodes, shares) => {
    const found = zoneShares(nodes);
    expect(found && Object.fromEntries(found)).toEqual(shares);
  });
});

const shares = new Map([
  ['a', 1 / 3],
  ['b', 2 / 3],
]);

it.each([
  [1, 'Insufficient number of endpoints (1 endpoints, 2 zones)'],
  [2, 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (2 endpoints, 2 zones)'],
  [6, { a: { desired: 2, maximum: 2 }, b: { desired: 4, maximum: 4 } }],
])('allocates %i endpoints, or returns the reason why not', (count, expected) => {
  const found = allocationsOf(shares, count);
  expect(typeof found === 'string' ? found : Object.fromEntries(found)).toEqual(expected);
});

it('moves endpoints from zones with too many to zones with too few', () => {
  const allocations = allocationsOf(shares, 6) as Exclude<ReturnType<typeof allocationsOf>, string>;
  const { giving, receiving } = transfersOf(allocations, new Map([['a', 6]]));
  expect([giving, receiving]).toEqual([new Map([['a', 4]]), new Map([['b', 4]])]);
  expect(
    transfersOf(
      allocations,
      new Map([
        ['a', 2],
        ['b', 4],
      ]),
    ).giving.size,
  ).toBe(0);
});

it('finds services whose endpoints must be distributed again', () => {
  expect(
    isOverloaded(
      new Map([
        ['a', 2],
        ['b', 4],
      ]),
      shares,
    ),
  ).toBe(false);
  expect(
    isOverloaded(
      new Map([
        ['a', 4],
        ['b', 2],
      ]),
      shares,
    ),
  ).toBe(true);
  expect(isOverloaded(new Map([['a', 6]]), shares)).toBe(true);
  expect(isOverloaded(new Map([['a', 6]]), undefined)).toBe(true);
  expect(isOverloaded(new Map(), undefined)).toBe(false);
});
