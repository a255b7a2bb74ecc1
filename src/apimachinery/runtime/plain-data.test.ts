import { expect, it } from 'vitest';
import { Float64 } from './numbers.ts';
import { NotPlainError, plainCopySteps } from './plain-data.ts';
import { atOnce } from './steps.ts';
import { notedKeys, noteKeys } from './wide-objects.ts';

class Team {
  name = 'a';
}
const cycle: { spec: { self?: object } } = { spec: {} };
cycle.spec.self = cycle;

it.each<{ name: string; value: object; fault: string }>([
  { name: 'a function', value: { spec: { run: () => 1 } }, fault: 'spec.run is a function' },
  { name: 'a symbol', value: { spec: [Symbol('a')] }, fault: 'spec[0] is a symbol' },
  { name: 'NaN', value: { spec: { replicas: Number.NaN } }, fault: 'spec.replicas is NaN' },
  { name: 'a Date', value: { metadata: { creationTimestamp: new Date(0) } }, fault: 'metadata.creationTimestamp is an instance of Date' },
  { name: 'a Map', value: { data: new Map() }, fault: 'data is an instance of Map' },
  { name: 'a class instance', value: { spec: { team: new Team() } }, fault: 'spec.team is an instance of Team' },
  { name: 'undefined in a list', value: { spec: { list: ['a', undefined] } }, fault: 'spec.list[1] is undefined' },
  { name: 'a hole in a list', value: { list: Array(1) }, fault: 'list[0] is undefined' },
  { name: 'a cycle', value: cycle, fault: 'spec.self.spec is nested too deeply or contains itself' },
  { name: 'an instance as the root', value: new Team(), fault: 'the object is an instance of Team' },
])('rejects $name', ({ value, fault }) => {
  expect(() => atOnce(plainCopySteps(value))).toThrow(new NotPlainError(fault));
});

it('copies JSON and the numbers of its parser, and shares nothing', () => {
  const value = { a: [1, 'b', null, true, { c: 2n }], d: new Float64(1, '1.0'), e: {}, f: undefined };
  const copy = atOnce(plainCopySteps(value));
  expect(copy).toEqual({ a: [1, 'b', null, true, { c: 2n }], d: value.d, e: {} });
  expect(Object.keys(copy)).toEqual(['a', 'd', 'e']);
  expect(copy.a).not.toBe(value.a);
  expect(copy.a[4]).not.toBe(value.a[4]);
});

it('copies a wide object with its cached keys', () => {
  const data = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${i}`, i]));
  const copy = atOnce(plainCopySteps({ data: noteKeys(data, Object.keys(data)) }));
  expect(copy.data).toEqual(data);
  expect(notedKeys(copy.data)).toHaveLength(3_000);
});

it('keeps a property named __proto__', () => {
  const value = JSON.parse('{"data":{"__proto__":"x"}}') as { data: object };
  expect(JSON.stringify(atOnce(plainCopySteps(value)))).toBe('{"data":{"__proto__":"x"}}');
});
