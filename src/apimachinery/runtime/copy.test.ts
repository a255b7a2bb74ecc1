import { expect, test } from 'vitest';
import { deepCopy, deepCopySteps, frozenCopy } from './copy.ts';
import { deepEqual } from './equality.ts';
import { atOnce } from './steps.ts';
import { noteKeys } from './wide-objects.ts';

const nested = (depth: number, leaf: unknown): unknown => {
  let value = leaf;
  for (let i = 0; i < depth; i++) value = i % 2 ? { a: value } : [value];
  return value;
};

const wideEntries = Array.from({ length: 5_000 }, (_, i): [string, object] => [`k${i}`, { i }]);

test('a copy is equal and shares nothing', () => {
  const value = JSON.parse('{"b":[1,{"x":null}],"__proto__":{"p":1},"a":"s"}') as { b: [number, object] };
  const copied = deepCopy(value);
  expect(JSON.stringify(copied)).toBe(JSON.stringify(value));
  expect(copied.b).not.toBe(value.b);
  expect(copied.b[1]).not.toBe(value.b[1]);
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
  expect(deepEqual(copied, value)).toBe(true);
});

test.each([
  { name: 'a small value', value: JSON.parse('{"b":[1,{"x":null}],"__proto__":{"p":1},"a":"s"}') as object },
  {
    name: 'a wide map',
    value: noteKeys(
      Object.fromEntries(wideEntries),
      wideEntries.map(([key]) => key),
    ),
  },
  { name: 'a deep value', value: nested(2_000, { a: 1 }) as object },
])('a frozen copy of $name is equal, and frozen at all levels', ({ value }) => {
  const copied = frozenCopy(value);
  expect(deepEqual(copied, value)).toBe(true);
  expect(Object.isFrozen(value)).toBe(false);
  const pending: unknown[] = [copied];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Object.isFrozen(next)) throw new Error(`not frozen: ${JSON.stringify(next)}`);
    pending.push(...Object.values(next));
  }
});

test('a frozen copy shares what is known to be frozen at all levels, and copies what is frozen only at the top', () => {
  const known = frozenCopy({ a: { b: 1 } });
  const shallow = Object.freeze({ a: { b: 1 } });
  const copied = frozenCopy({ known, shallow });
  expect(copied.known).toBe(known);
  expect(copied.shallow).not.toBe(shallow);
  expect(Object.isFrozen(copied.shallow.a)).toBe(true);
  expect(deepCopy({ known }).known).not.toBe(known);
});

test('a chunked copy is equal', () => {
  for (const value of [null, 5n, 'text', [], JSON.parse('{"b":[1,{"x":null}],"__proto__":{"p":1},"a":"s"}')] as const)
    expect(deepEqual(atOnce(deepCopySteps(value)), value)).toBe(true);
});

test('a chunked copy of a wide map keeps the order of keys', () => {
  const wide = { first: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${(i * 7_919) % 10_000}`, { i }])), last: [1] };
  const steps = deepCopySteps(wide);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  expect(count).toBeGreaterThan(10);
  expect(JSON.stringify(step.value)).toBe(JSON.stringify(wide));
  expect(step.value.first['k0']).not.toBe(wide.first['k0']);
});

test('copies any depth', () => {
  const value = nested(20_000, 1n);
  expect(deepEqual(deepCopy(value), value)).toBe(true);
  expect(deepEqual(nested(20_000, 2), value)).toBe(false);
});

test.each<[a: unknown, b: unknown, equal: boolean]>([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: undefined }, {}, true],
  [{ a: undefined, b: 1 }, { b: 1, c: undefined }, true],
  [{ a: 1 }, { b: 1 }, false],
  [{}, { a: 1 }, false],
  [{ constructor: 1 }, {}, false],
  [{}, [], false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [null, {}, false],
  [5n, 5, true],
  [9007199254740993n, 9007199254740992, false],
  ['5', 5, false],
  [{ a: [{ b: 'x' }] }, { a: [{ b: 'x' }] }, true],
])('deepEqual of two values is %3$s', (a, b, equal) => {
  expect(deepEqual(a, b)).toBe(equal);
  expect(deepEqual(b, a)).toBe(equal);
});
