import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldsV1 } from '#apimachinery/meta/types';
import { FieldSet } from './field-set.ts';
import { comparePathElements, type FieldPath, formatPath, keyElement, parsePathElement, valueElement } from './path-element.ts';

const element = fc.oneof(
  fc.constantFrom('f:a', 'f:b', 'f:A', 'f:\uff01', 'f:😀', 'f:__proto__', 'f:constructor'),
  fc.constantFrom('k:{"name":"a"}', 'k:{"name":"b"}', 'k:{"port":9}', 'k:{"port":80}', 'k:{"port":80,"protocol":"TCP"}'),
  fc.constantFrom('v:"x"', 'v:1', 'v:10', 'v:9', 'v:true', 'i:0', 'i:10', 'i:9'),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });
const keys = (list: Iterable<FieldPath>): Set<string> => new Set([...list].map((item) => JSON.stringify(item)));
const isPrefix = (short: FieldPath, long: FieldPath): boolean => short.every((item, index) => long[index] === item);

describe('FieldSet', () => {
  it('contains exactly the inserted paths', () => {
    fc.assert(
      fc.property(paths, path, (list, other) => {
        const set = FieldSet.of(...list);
        expect(keys(set)).toEqual(keys(list));
        expect(set.size).toBe(keys(list).size);
        expect(set.has(other)).toBe(keys(list).has(JSON.stringify(other)));
        expect(keys(set.insert(other))).toEqual(keys([...list, other]));
        expect(set.isEmpty).toBe(list.length === 0);
      }),
    );
  });

  it('implements set operations', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [FieldSet.of(...a), FieldSet.of(...b)];
        const inRight = keys(b);
        const inBoth = a.filter((item) => inRight.has(JSON.stringify(item)));
        expect(keys(left.union(right))).toEqual(keys([...a, ...b]));
        expect(keys(left.intersection(right))).toEqual(keys(inBoth));
        expect(keys(left.difference(right))).toEqual(keys(a.filter((item) => !inRight.has(JSON.stringify(item)))));
        expect(keys(left.recursiveDifference(right))).toEqual(keys(a.filter((item) => !b.some((other) => isPrefix(other, item)))));
        expect(keys(left.leaves())).toEqual(
          keys(a.filter((item) => !a.some((other) => other.length > item.length && isPrefix(item, other)))),
        );
        expect(left.equals(FieldSet.of(...a.toReversed()))).toBe(true);
        expect(left.equals(right)).toBe(keys(a).size === keys(b).size && inBoth.length === a.length);
        expect(keys(left)).toEqual(keys(a));
      }),
      { numRuns: 500 },
    );
  });

  it('round-trips through FieldsV1 in any order', () => {
    const shuffled = (fields: FieldsV1): FieldsV1 =>
      Object.fromEntries(
        Object.entries(fields)
          .reverse()
          .map(([key, value]) => [key, shuffled(value)]),
      );
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const text = JSON.stringify(
          FieldSet.of(...a)
            .union(FieldSet.of(...b))
            .toFieldsV1(),
        );
        const fields = JSON.parse(text) as FieldsV1;
        expect(JSON.stringify(FieldSet.fromFieldsV1(fields).toFieldsV1())).toBe(text);
        expect(JSON.stringify(FieldSet.fromFieldsV1(shuffled(fields)).toFieldsV1())).toBe(text);
        expect(JSON.stringify(FieldSet.of(...[...a, ...b].reverse()).toFieldsV1())).toBe(text);
      }),
    );
  });

  it('shares unchanged nodes', () => {
    const set = FieldSet.of(['f:a'], ['f:b', 'f:c']);
    expect(set.union(FieldSet.of(['f:a']))).toBe(set);
    expect(set.difference(FieldSet.of(['f:x'], ['f:b']))).toBe(set);
    expect(set.difference(FieldSet.of(['f:a'])).toFieldsV1()['f:b']).toBe(set.toFieldsV1()['f:b']);
  });

  it.each([
    { name: 'members with children have a dot', fields: { 'f:a': { 'f:b': {}, '.': {} } }, want: '{"f:a":{".":{},"f:b":{}}}' },
    {
      name: 'numbers sort by value',
      fields: { 'k:{"port":80}': {}, 'k:{"port":9}': {} },
      want: String.raw`{"k:{\"port\":9}":{},"k:{\"port\":80}":{}}`,
    },
    {
      name: 'keys are canonical',
      fields: { 'k:{ "b": "<" , "a": 1.0 }': {} },
      want: String.raw`{"k:{\"a\":1,\"b\":\"\\u003c\"}":{}}`,
    },
    {
      name: 'fields, keys, values, places',
      fields: { 'i:1': {}, 'v:1': {}, 'k:{"a":1}': {}, 'f:z': {} },
      want: String.raw`{"f:z":{},"k:{\"a\":1}":{},"v:1":{},"i:1":{}}`,
    },
    { name: 'unknown kinds are left out', fields: { 'f:a': {}, 'x:b': {} }, want: '{"f:a":{}}' },
  ])('$name', ({ fields, want }) => {
    expect(JSON.stringify(FieldSet.fromFieldsV1(fields).toFieldsV1())).toBe(want);
  });

  it.each([
    { fields: { a: {} }, error: 'key must be 2 characters long:' },
    { fields: { abc: {} }, error: 'missing colon: abc' },
    { fields: { __proto: {} }, error: 'missing colon: __proto' },
    { fields: { 'k:[]': {} }, error: 'expect {' },
    { fields: { 'v:x': {} }, error: 'parsing key as path element' },
    { fields: { 'i:x': {} }, error: 'strconv.Atoi: parsing "x": invalid syntax' },
    { fields: { 'f:a': 5 }, error: 'expected an object' },
    { fields: JSON.parse(`${'{"f:a":'.repeat(9000)}{}${'}'.repeat(9000)}`) as object, error: 'nested more than 500 levels' },
  ])('rejects a malformed set: $error', ({ fields, error }) => {
    expect(() => FieldSet.fromFieldsV1(fields)).toThrow(error);
  });
});

describe('path elements', () => {
  it.each([
    {
      element: keyElement(['containerPort', 'protocol'], [80, 'TCP']),
      want: 'k:{"containerPort":80,"protocol":"TCP"}',
      shown: '[containerPort=80,protocol="TCP"]',
    },
    {
      element: keyElement(['name'], ['a<b>"\\\u2028\b']),
      want: String.raw`k:{"name":"a\u003cb\u003e\"\\\u2028\u0008"}`,
      shown: String.raw`[name="a<b>\"\\\u2028\b"]`,
    },
    { element: valueElement(true), want: 'v:true', shown: '[=true]' },
    { element: valueElement(9007199254740993n), want: 'v:9007199254740993', shown: '[=9007199254740993]' },
    { element: 'f:a.b', want: 'f:a.b', shown: '.a.b' },
    { element: 'i:3', want: 'i:3', shown: '[3]' },
  ])('$want is printed $shown', ({ element: made, want, shown }) => {
    expect(made).toBe(want);
    expect(parsePathElement(made)).toBe(want);
    expect(formatPath([made])).toBe(shown);
  });

  it('are totally ordered', () => {
    fc.assert(
      fc.property(element, element, element, (a, b, c) => {
        expect(Math.sign(comparePathElements(a, b))).toBe(-Math.sign(comparePathElements(b, a)) + 0);
        expect(comparePathElements(a, b) === 0).toBe(a === b);
        if (comparePathElements(a, b) < 0 && comparePathElements(b, c) < 0) expect(comparePathElements(a, c)).toBeLessThan(0);
      }),
      { numRuns: 500 },
    );
    expect(comparePathElements('f:\uff01', 'f:😀')).toBeLessThan(0);
  });
});
