import { describe, expect, it } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import { applyMergePatch, checkMergePatch } from './merge-patch.ts';

const json = (text: string): unknown => JSON.parse(text);

describe('applyMergePatch', () => {
  it.each([
    { name: 'sets, replaces and removes', document: '{"a":1,"b":2,"c":3}', patch: '{"a":9,"b":null,"d":4}', want: '{"a":9,"c":3,"d":4}' },
    { name: 'merges objects', document: '{"a":{"x":1,"y":2}}', patch: '{"a":{"y":null,"z":3}}', want: '{"a":{"x":1,"z":3}}' },
    { name: 'replaces lists', document: '{"a":[1,2]}', patch: '{"a":[3]}', want: '{"a":[3]}' },
    { name: 'nulls of new objects are dropped', document: '{}', patch: '{"a":{"b":null,"c":{"d":null}}}', want: '{"a":{"c":{}}}' },
    {
      name: 'nulls in new lists are kept, those of their objects dropped',
      document: '{}',
      patch: '{"a":[null,{"b":null,"c":1}]}',
      want: '{"a":[null,{"c":1}]}',
    },
    {
      name: 'nulls of objects in a list that replaces an object are kept',
      document: '{"a":{}}',
      patch: '{"a":[{"b":null}]}',
      want: '{"a":[{"b":null}]}',
    },
    { name: 'an object replaces a scalar', document: '{"a":1}', patch: '{"a":{"b":null,"c":1}}', want: '{"a":{"c":1}}' },
    { name: 'a scalar replaces an object', document: '{"a":{"b":1}}', patch: '{"a":1}', want: '{"a":1}' },
    { name: 'removing an absent field', document: '{"a":1}', patch: '{"b":null}', want: '{"a":1}' },
    { name: 'a list replaces the document', document: '{"a":1}', patch: '[{"a":null}]', want: '[{}]' },
    {
      name: '__proto__ is an ordinary key',
      document: '{"a":1}',
      patch: '{"__proto__":{"x":1},"constructor":{"prototype":null,"y":2}}',
      want: '{"a":1,"__proto__":{"x":1},"constructor":{"y":2}}',
    },
    {
      name: '__proto__ is merged and removed',
      document: '{"__proto__":{"x":1,"y":2}}',
      patch: '{"__proto__":{"x":null}}',
      want: '{"__proto__":{"y":2}}',
    },
  ])('$name', ({ document, patch, want }) => {
    const [before, change] = [json(document), json(patch)];
    expect(JSON.stringify(atOnce(applyMergePatch(before, change)))).toBe(JSON.stringify(json(want)));
    expect(JSON.stringify(before)).toBe(JSON.stringify(json(document)));
    expect(JSON.stringify(change)).toBe(JSON.stringify(json(patch)));
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it('works at any depth', () => {
    const deep = (inner: string): unknown => json(`${'{"a":'.repeat(9000)}${inner}${'}'.repeat(9000)}`);
    let value = atOnce(applyMergePatch(deep('{"x":1,"y":1}'), deep('{"x":null,"z":{"n":null}}')));
    for (let i = 0; i < 9000; i++) value = (value as { a: unknown }).a;
    expect(value).toEqual({ y: 1, z: {} });
  });

  it.each([['5'], ['null'], ['"x"']])('rejects %s', (patch) => {
    expect(() => atOnce(applyMergePatch({}, json(patch)))).toThrow('Invalid JSON Patch');
    expect(() => checkMergePatch(json(patch))).toThrow(
      patch === 'null' ? 'Invalid JSON Patch' : 'error decoding patch: json: cannot unmarshal',
    );
  });
});

it('sorts the keys of changed objects where that is visible', () => {
  const document = { z: { y: 1, x: 2 }, d: { c: 1 } };
  expect(JSON.stringify(atOnce(applyMergePatch(document, { d: { b: 1 } }, true)))).toBe('{"d":{"b":1,"c":1},"z":{"y":1,"x":2}}');
});
