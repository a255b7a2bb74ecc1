import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepEqual } from '#apimachinery/runtime/equality';
import { FieldSet } from './field-set.ts';
import { registry, thingType } from './fixtures.ts';
import { atOnce } from '#apimachinery/runtime/steps';
import { extractItems, reconcileFieldSet, removeItems } from './items.ts';
import { merge } from './merge.ts';
import { formatPath } from './path-element.ts';
import { shapeOf } from './shape.ts';
import { compare } from './compare.ts';
import { toFieldSet } from './owned-fields.ts';
import { validate } from './validate.ts';

const spec = shapeOf(registry.struct('test_v1.Spec'));
const text = (set: FieldSet): string => [...set].map(formatPath).sort().join(' ');

describe('toFieldSet', () => {
  it.each([
    { name: 'scalars, without their structs', value: { replicas: 1, strategy: { type: 'x' } }, want: '.replicas .strategy.type' },
    { name: 'zero values count', value: { paused: false, replicas: 0 }, want: '.paused .replicas' },
    { name: 'map keys, without the map', value: { data: { a: '1', b: '2' } }, want: '.data.a .data.b' },
    { name: 'empty and null maps', value: { data: {}, strategy: null }, want: '.data .strategy' },
    { name: 'empty lists have no owner', value: { items: [] }, want: '' },
    {
      name: 'items with their keys',
      value: { items: [{ name: 'a', value: 'x' }] },
      want: '.items[name="a"] .items[name="a"].name .items[name="a"].value',
    },
    {
      name: 'key defaults',
      value: { items: [{ name: 'a', ports: [{ port: 80 }] }] },
      want: '.items[name="a"] .items[name="a"].name .items[name="a"].ports[port=80,protocol="TCP"] .items[name="a"].ports[port=80,protocol="TCP"].port',
    },
    { name: 'atomic values are one leaf', value: { selector: { a: 'b' }, args: ['x'], ref: { name: 'n' } }, want: '.args .ref .selector' },
    { name: 'a RawExtension is one leaf', value: { raw: { a: { b: 1 } } }, want: '.raw' },
    {
      name: 'other JSON is granular, its lists are leaves',
      value: { any: { a: { b: 1 }, c: [{ d: 1 }] } },
      want: '.any.a .any.a.b .any.c',
    },
    {
      name: 'duplicates are one leaf',
      value: {
        items: [
          { name: 'a', value: '1' },
          { name: 'a', value: '2' },
        ],
      },
      want: '.items[name="a"]',
    },
  ])('$name', ({ value, want }) => {
    expect(text(toFieldSet(spec, value))).toBe(want);
  });
});

describe('compare', () => {
  const typed = { left: 'typed', right: 'typed' } as const;
  const raw = { left: 'raw', right: 'raw' } as const;
  const rows = [
    { name: 'nothing', a: { replicas: 1 }, b: { replicas: 1 } },
    { name: 'a scalar', a: { replicas: 1 }, b: { replicas: 2 }, modified: '.replicas' },
    { name: 'added paths, including containers', a: {}, b: { data: { x: '1' } }, added: '.data .data.x' },
    { name: 'removed paths, including containers', a: { data: { x: '1' } }, b: {}, removed: '.data .data.x' },
    { name: 'a struct that Go always encodes is not added', a: {}, b: { strategy: { type: 'x' } }, added: '.strategy.type' },
    { name: 'zero values that Go leaves out are absent', a: { paused: true }, b: { paused: false }, removed: '.paused' },
    { name: 'an explicit zero of a pointer counts', a: {}, b: { replicas: 0 }, added: '.replicas' },
    {
      name: 'a list that Go always encodes is not added',
      a: {},
      b: { items: [{ name: 'a' }] },
      added: '.items[name="a"] .items[name="a"].name .items[name="a"].resources',
    },
    { name: 'an item that moves', a: { items: [{ name: 'a' }, { name: 'b' }] }, b: { items: [{ name: 'b' }, { name: 'a' }] } },
    {
      name: 'an item that changes',
      a: { items: [{ name: 'a', value: '1' }, { name: 'b' }] },
      b: { items: [{ name: 'a', value: '2' }, { name: 'b' }] },
      modified: '.items[name="a"].value',
    },
    {
      name: 'a key default',
      a: { items: [{ name: 'a', ports: [{ port: 1 }] }] },
      b: { items: [{ name: 'a', ports: [{ port: 1, protocol: 'TCP' }] }] },
      added: '.items[name="a"].ports[port=1,protocol="TCP"].protocol',
    },
    {
      name: 'atomic values as a whole',
      a: { selector: { a: '1' }, args: ['x'] },
      b: { selector: { a: '2' }, args: ['x', 'y'] },
      modified: '.args .selector',
    },
    {
      name: 'empty values in an atomic struct, which Go omits',
      a: { ref: { name: 'n' } },
      b: { ref: { name: 'n', kind: '', labels: {}, more: [] } },
    },
    {
      name: 'an empty list in a list, which differs from none',
      a: { rules: [{ name: 'n' }] },
      b: { rules: [{ name: 'n', more: [] }] },
      modified: '.rules',
    },
    {
      name: 'an empty map in a list, which differs from none',
      a: { rules: [{ name: 'n' }] },
      b: { rules: [{ name: 'n', labels: {} }] },
      modified: '.rules',
    },
    {
      name: 'an empty text in a list, and null, which are the same as none',
      a: { rules: [{ name: 'n' }] },
      b: { rules: [{ name: 'n', kind: '', labels: null, more: null }] },
    },
    {
      name: 'new duplicates',
      a: { items: [{ name: 'a' }] },
      b: { items: [{ name: 'a' }, { name: 'a' }] },
      added: '.items[name="a"]',
      removed: '.items[name="a"] .items[name="a"].name .items[name="a"].resources',
    },
    {
      name: 'removed duplicates',
      a: { items: [{ name: 'a' }, { name: 'a' }] },
      b: { items: [{ name: 'a' }] },
      added: '.items[name="a"] .items[name="a"].name .items[name="a"].resources',
      removed: '.items[name="a"]',
    },
    {
      name: 'changed duplicates',
      a: { items: [{ name: 'a' }, { name: 'a' }] },
      b: { items: [{ name: 'a' }, { name: 'a', value: '1' }] },
      modified: '.items[name="a"]',
    },
    { name: 'JSON of another type', a: { any: { x: { y: 1 } } }, b: { any: { x: 5 } }, modified: '.any.x', removed: '.any.x.y' },
    { name: 'raw: null beside an empty map', readings: raw, a: { data: null }, b: { data: {} }, modified: '.data' },
    { name: 'raw: a zero value counts', readings: raw, a: {}, b: { paused: false }, added: '.paused' },
  ];
  it.each(rows)('$name', ({ name: _, a, b, readings, ...want }) => {
    const result = compare(spec, a, b, readings ?? typed);
    const got = result
      ? { added: text(result.added), modified: text(result.modified), removed: text(result.removed) }
      : { added: '', modified: '', removed: '' };
    expect(got).toEqual({ added: '', modified: '', removed: '', ...want });
  });

  it('skips the given parts', () => {
    const skip = { 'f:status': true, 'f:metadata': { 'f:name': true } } as const;
    const result = compare(shapeOf(thingType), {}, { metadata: { name: 'n', labels: { a: '1' } }, status: { phase: 'x' } }, typed, skip);
    expect(text(result!.added)).toBe('.metadata.labels .metadata.labels.a');
  });

  it('rejects values that are nested too deeply', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`) as unknown;
    expect(() => compare(spec, {}, { any: deep }, typed)).toThrow('nested more than 500 levels');
  });
});

describe('merge', () => {
  it.each([
    {
      name: 'adds and replaces leaves',
      live: { replicas: 1, data: { a: '1', b: '1' } },
      applied: { replicas: 2, data: { b: '2' } },
      want: { replicas: 2, data: { a: '1', b: '2' } },
    },
    {
      name: 'keeps live items before the shared ones they stood before',
      live: ['x', 'a', 'y', 'b'],
      applied: ['b', 'a', 'new'],
      want: ['x', 'y', 'b', 'a', 'new'],
    },
    { name: 'an empty list removes nothing', live: ['a'], applied: [], want: ['a'] },
    { name: 'an empty map removes nothing', live: { data: { a: '1' } }, applied: { data: {} }, want: { data: { a: '1' } } },
    { name: 'null does not remove a map', live: { data: { a: '1' } }, applied: { data: null }, want: { data: { a: '1' } } },
    {
      name: 'atomic values are replaced',
      live: { args: ['a'], selector: { a: '1' } },
      applied: { args: [], selector: { b: '1' } },
      want: { args: [], selector: { b: '1' } },
    },
    { name: 'JSON of another type is replaced', live: { any: { a: 1 } }, applied: { any: [1] }, want: { any: [1] } },
    {
      name: '__proto__ is an ordinary key',
      live: { data: { a: '1' } },
      applied: { data: JSON.parse('{"__proto__":"x"}') as object },
      want: { data: JSON.parse('{"a":"1","__proto__":"x"}') as object },
    },
  ])('$name', ({ live, applied, want }) => {
    const named = (value: unknown) => (Array.isArray(value) ? { items: value.map((name) => ({ name: name as string })) } : value);
    expect(merge(spec, named(live), named(applied))).toEqual(named(want));
  });
});

describe('removeItems and extractItems', () => {
  const value = {
    replicas: 1,
    data: { a: '1', b: '2' },
    items: [
      { name: 'x', value: '1' },
      { name: 'y', value: '2' },
    ],
  };
  const set = FieldSet.of(['f:replicas'], ['f:data', 'f:a'], ['f:items', 'k:{"name":"x"}'], ['f:items', 'k:{"name":"y"}', 'f:value']);
  it('remove a set, or keep only the set', () => {
    expect(atOnce(removeItems(spec, value, set))).toEqual({ data: { b: '2' }, items: [{ name: 'y' }] });
    expect(extractItems(spec, value, set)).toEqual({ replicas: 1, data: { a: '1' }, items: [{ name: 'x', value: '1' }, { value: '2' }] });
    expect(atOnce(removeItems(spec, { data: { a: '1' } }, set))).toEqual({ data: null });
  });
});

describe('reconcileFieldSet', () => {
  it('assigns a value that became atomic to the owners of its parts', () => {
    const set = FieldSet.of(['f:selector', 'f:a'], ['f:data', 'f:a'], ['f:args', 'v:"x"']);
    expect(text(reconcileFieldSet(spec, set))).toBe('.args .data.a .selector');
    const same = FieldSet.of(['f:selector'], ['f:data', 'f:a']);
    expect(reconcileFieldSet(spec, same)).toBe(same);
  });
});

describe('validate', () => {
  it.each([
    [{ nope: 1 }, '.nope: field not declared in schema'],
    [{ replicas: 'x' }, '.replicas: expected numeric (int or float), got string'],
    [{ data: { a: 5 } }, '.data.a: expected string, got &value.valueUnstructured{Value:5}'],
    [
      { data: { a: { b: [1, 'x', null] } } },
      '.data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":[]interface {}{1, "x", interface {}(nil)}}}',
    ],
    [{ paused: 'x' }, '.paused: expected boolean, got &{x}'],
    [{ items: 'x' }, '.items: expected list, got &{x}'],
    [{ strategy: [1] }, '.strategy: expected map, got &{[1]}'],
    [{ limits: { cpu: {} } }, '.limits.cpu: expected any scalar, got &{map[]}'],
    [{ items: [{ name: 'a' }, { name: 'a' }] }, '.items: duplicate entries for key [name="a"]'],
    [
      { items: [{ value: 'a' }] },
      `.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    ],
    [{ items: [null] }, '.items: element 0: associative list with keys may not have a null element'],
    [{ items: [5] }, '.items: element 0: associative list with keys may not have non-map elements'],
    [
      { replicas: 'x', paused: 1 },
      'errors:\n  .replicas: expected numeric (int or float), got string\n  .paused: expected boolean, got &{1}',
    ],
  ])('%j', (value, error) => {
    expect(() => validate(spec, value)).toThrow(expect.objectContaining({ message: error }));
  });

  it('accepts nulls anywhere except in keyed lists', () => {
    expect(() => validate(spec, { replicas: null, data: { a: null }, items: null, args: [null] })).not.toThrow();
  });
});

const name = fc.constantFrom('a', 'b', 'c');
const configuration = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 2 }),
    paused: fc.boolean(),
    data: fc.dictionary(name, fc.constantFrom('1', '2')),
    selector: fc.dictionary(name, name),
    items: fc.uniqueArray(fc.record({ name, value: name }, { requiredKeys: ['name'] }), { selector: (item) => item.name }),
    args: fc.array(name, { maxLength: 2 }),
    any: fc.jsonValue({ maxDepth: 2 }),
    strategy: fc.record({ type: name }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

/** Returns the paths that a granular container lost; leaves with another JSON type do not count. */
function removedFrom(live: unknown, merged: unknown): FieldSet {
  const changes = compare(spec, live, merged, { left: 'raw', right: 'raw' });
  return changes ? changes.removed.recursiveDifference(changes.modified) : FieldSet.empty;
}

describe('sets and merges', () => {
  it('agree: a merge contains what was applied, and applying again changes nothing', () => {
    fc.assert(
      fc.property(configuration, configuration, (live, applied) => {
        const merged = merge(spec, live, applied);
        expect(deepEqual(merge(spec, merged, applied), merged)).toBe(true);
        const difference = compare(spec, applied, merged, { left: 'raw', right: 'raw' });
        expect(text(difference?.modified ?? FieldSet.empty)).toBe('');
        expect(text(difference?.removed ?? FieldSet.empty)).toBe('');
        expect(text(removedFrom(live, merged))).toBe('');
      }),
      { numRuns: 300 },
    );
  });

  it('agree: a path in only one of two values is removed or added', () => {
    fc.assert(
      fc.property(configuration, configuration, (a, b) => {
        const there = compare(spec, a, b, { left: 'raw', right: 'raw' });
        const back = compare(spec, b, a, { left: 'raw', right: 'raw' });
        expect(there === undefined).toBe(back === undefined);
        if (!there || !back) return;
        expect(there.added.equals(back.removed)).toBe(true);
        expect(there.modified.equals(back.modified)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
