import { expect, it } from 'vitest';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { problemOf } from './fits.ts';
import { registry } from './fixtures.ts';
import { shapeOf } from './shape.ts';
import { validate } from './validate.ts';

const spec = shapeOf(registry.struct('test_v1.Spec'));
const ports = (count: number): object[] => Array.from({ length: count }, (_, port) => ({ port }));

function failure(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

it.each<[string, unknown]>([
  ['a value', { name: 'a', replicas: 1, items: [{ name: 'a', ports: ports(3) }] }],
  ['a large value', { items: [{ name: 'a', ports: ports(5_000) }] }],
  ['null fields', { replicas: null, items: null }],
  ['a null item', { items: [null] }],
  ['an item without its key', { items: [{ value: 'x' }] }],
  ['an item with a null key', { items: [{ name: null }] }],
  ['a scalar in place of an item', { items: ['x'] }],
  ['a map in place of a list', { items: {} }],
  ['a list in place of a map', []],
  ['an undeclared field', { other: 1 }],
  ['an undeclared field in a large value', { items: [{ name: 'a', ports: [...ports(5_000), { other: 1 }] }] }],
  ['text in place of a number', { replicas: '1' }],
])('finds the fault of validation in %s', (_, value) => {
  expect(atOnce(problemOf(spec, value))?.message).toBe(failure(() => validate(spec, value)));
});

it('allows duplicates, also beside an unusual item', () => {
  expect(atOnce(problemOf(spec, { items: [{ name: 'a' }, { name: 'a' }] }))).toBeUndefined();
  const value = { items: [{ name: 'a' }, { name: 'a' }, { value: 'x' }] };
  expect(atOnce(problemOf(spec, value))?.message).toContain('element 2');
});

it('yields within large values, and seldom in small ones', () => {
  const count = (steps: Steps<unknown>): number => [...steps].length;
  expect(count(problemOf(spec, { items: [{ name: 'a', ports: ports(3) }] }))).toBe(0);
  expect(count(problemOf(spec, { items: Array.from({ length: 30_000 }, (_, i) => ({ name: `${i}`, ports: ports(1) })) }))).toBeGreaterThan(
    2,
  );
});
