import { describe, expect, it } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import { registry } from './fixtures.ts';
import { shapeOf } from './shape.ts';
import { validate, validateSteps } from './validate.ts';

const spec = shapeOf(registry.struct('test_v1.Spec'));
const items = (count: number, more: readonly unknown[] = []) => [...Array.from({ length: count }, (_, i) => ({ name: `x${i}` })), ...more];

function messageOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('validateSteps', () => {
  it.each<[string, unknown]>([
    ['a long list', { items: items(5_000) }],
    ['a long list with a duplicate item', { items: items(5_000, [{ name: 'x7' }]) }],
    ['a long list with an item without its key', { items: items(5_000, [{ value: 'x' }]) }],
    ['a long list with an unknown field', { items: items(5_000, [{ name: 'y', other: 1 }]), replicas: 'x' }],
    ['a long list in an item', { items: [{ name: 'a', ports: Array.from({ length: 2_000 }, (_, port) => ({ port })) }] }],
    [
      'an invalid item in a long list of length one',
      { items: [{ name: 'a', ports: Array.from({ length: 2_000 }, (_, i) => ({ port: i % 1_999 })) }] },
    ],
    ['a list of the wrong type', { items: {}, replicas: 'x' }],
  ])('reports for %s the same as validate', (_, value) => {
    expect(messageOf(() => atOnce(validateSteps(spec, value)))).toBe(messageOf(() => validate(spec, value)));
  });

  it('yields within long lists', () => {
    expect([...validateSteps(spec, { items: items(10_000) })].length).toBeGreaterThan(50);
  });
});

it.each<[unknown, string]>([
  [{ name: { a: 'b' } }, '.items[name=a="b"].name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"b"}}'],
  [{ name: ['x', 1] }, '.items[name=["x",1]].name: expected string, got &value.valueUnstructured{Value:[]interface {}{"x", 1}}'],
])('names an item by its key %j of the wrong type', (item, message) => {
  expect(messageOf(() => validate(spec, { items: [item] }))).toBe(message);
});
