import { describe, expect, it } from 'vitest';
import { SchemaRegistry, type SchemaTable } from '#apimachinery/runtime/schema';
import { interpretPatchError } from './interpret-patch-error.ts';
import type { JsonObject } from './own-property.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const text = { type: 'string' } as const;
const table: SchemaTable = {
  Thing: {
    fields: {
      items: { type: 'array', items: { ref: 'Item' }, patchStrategy: 'merge', patchMergeKey: 'name' },
      volumes: { type: 'array', items: { ref: 'Item' }, patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' },
      keyless: { type: 'array', items: { ref: 'Item' }, patchStrategy: 'merge' },
      plain: { type: 'array', items: { ref: 'Item' } },
      finalizers: { type: 'array', items: text, patchStrategy: 'merge' },
      args: { type: 'array', items: text },
      lists: { type: 'array', items: { type: 'array', items: text }, patchStrategy: 'merge' },
      labels: { map: text },
      strategy: { ref: 'Strategy', patchStrategy: 'retainKeys' },
      selector: { ref: 'Strategy', patchStrategy: 'replace' },
      raw: { ref: 'runtime.RawExtension' },
      inner: { ref: 'Thing' },
      size: { type: 'integer' },
    },
  },
  Item: {
    fields: {
      name: text,
      value: text,
      ports: { type: 'array', items: { ref: 'Port' }, patchStrategy: 'merge', patchMergeKey: 'port' },
      sub: { ref: 'Strategy' },
    },
  },
  Port: { fields: { port: { type: 'integer' }, protocol: text } },
  Strategy: { fields: { type: text, more: { ref: 'Strategy' } } },
};
const type = new SchemaRegistry(() => table).struct('test_v1.Thing');

interface Row {
  readonly name: string;
  readonly document: JsonObject;
  readonly patch: JsonObject;
  readonly want?: JsonObject;
  readonly error?: string;
}

const items = (...names: string[]) => names.map((name) => ({ name, value: name }));

const rows: readonly Row[] = [
  {
    name: 'sets, merges and removes',
    document: { size: 1, labels: { a: '1', b: '2' } },
    patch: { size: 2, labels: { a: null, c: '3' } },
    want: { size: 2, labels: { b: '2', c: '3' } },
  },
  {
    name: 'nulls for absent fields are dropped',
    document: {},
    patch: { labels: { a: null, b: '1' }, inner: { size: null } },
    want: { labels: { b: '1' }, inner: {} },
  },
  {
    name: '$patch: replace on a map',
    document: { labels: { a: '1' } },
    patch: { labels: { $patch: 'replace', b: '2' } },
    want: { labels: { b: '2' } },
  },
  { name: '$patch: delete on a map', document: { labels: { a: '1' } }, patch: { labels: { $patch: 'delete' } }, want: { labels: {} } },
  { name: '$patch: delete on a missing map', document: {}, patch: { labels: { $patch: 'delete' } }, want: {} },
  {
    name: '$patch: frob',
    document: { labels: { a: '1' } },
    patch: { labels: { $patch: 'frob', x: '1' } },
    error: 'unknown patch type: frob in map: map[$patch:frob x:1]',
  },
  {
    name: 'items merge by key, new ones go to the end',
    document: { items: items('a', 'b') },
    patch: { items: [{ name: 'b', value: 'x' }, { name: 'c' }] },
    want: { items: [{ name: 'a', value: 'a' }, { name: 'b', value: 'x' }, { name: 'c' }] },
  },
  {
    name: 'the patch orders shared items',
    document: { items: items('a', 'b', 'c') },
    patch: { items: [{ name: 'c' }, { name: 'a' }] },
    want: { items: items('b', 'c', 'a') },
  },
  {
    name: 'nested lists merge too',
    document: { items: [{ name: 'a', ports: [{ port: 1 }] }] },
    patch: { items: [{ name: 'a', ports: [{ port: 2 }, { port: 1, protocol: 'UDP' }] }] },
    want: { items: [{ name: 'a', ports: [{ port: 2 }, { port: 1, protocol: 'UDP' }] }] },
  },
  {
    name: '$patch: delete of an item',
    document: { items: items('a', 'b') },
    patch: { items: [{ name: 'a', $patch: 'delete' }] },
    want: { items: items('b') },
  },
  {
    name: '$patch: replace in a list',
    document: { items: items('a', 'b') },
    patch: { items: [{ $patch: 'replace' }, { name: 'c' }] },
    want: { items: [{ name: 'c' }] },
  },
  {
    name: '$patch: merge in a list',
    document: { items: items('a') },
    patch: { items: [{ $patch: 'merge', name: 'a' }] },
    error: 'merging lists cannot yet be specified in the patch',
  },
  {
    name: '$patch: frob in a list',
    document: { items: items('a') },
    patch: { items: [{ $patch: 'frob', name: 'x' }] },
    error: 'unknown patch type: frob in map: map[$patch:frob name:x]',
  },
  {
    name: 'an item without its key',
    document: { items: items('a') },
    patch: { items: [{ value: 'x', sub: { type: null } }] },
    error: 'map: map[sub:map[type:<nil>] value:x] does not contain declared merge key: name',
  },
  {
    name: 'a delete without its key',
    document: { items: items('a') },
    patch: { items: [{ $patch: 'delete' }] },
    error: 'map: map[$patch:delete] does not contain declared merge key: name',
  },
  {
    name: 'a string among the items',
    document: { items: items('a') },
    patch: { items: ['x'] },
    error: 'list element types are not identical: [[map[name:a value:a]] [x]]',
  },
  {
    name: 'a merging list without a key',
    document: { keyless: items('a') },
    patch: { keyless: items('b') },
    error: 'cannot merge lists without merge key for struct',
  },
  {
    name: 'lists of other strategies are replaced',
    document: { plain: items('a'), args: ['x'] },
    patch: { plain: items('b'), args: [] },
    want: { plain: items('b'), args: [] },
  },
  {
    name: 'a list without a counterpart is cleaned',
    document: {},
    patch: {
      items: [
        { name: 'a', value: null },
        { name: 'b', $patch: 'delete' },
      ],
    },
    want: { items: [{ name: 'a' }] },
  },
  { name: 'lists of lists', document: { lists: [['a']] }, patch: { lists: [['b']] }, error: 'unexpected slice of slice' },
  {
    name: 'primitive lists merge without duplicates',
    document: { finalizers: ['a', 'b'] },
    patch: { finalizers: ['c', 'a'] },
    want: { finalizers: ['c', 'a', 'b'] },
  },
  {
    name: '$deleteFromPrimitiveList',
    document: { finalizers: ['a', 'b', 'c'] },
    patch: { '$deleteFromPrimitiveList/finalizers': ['b', 'x'] },
    want: { finalizers: ['a', 'c'] },
  },
  { name: '$deleteFromPrimitiveList of a missing list', document: {}, patch: { '$deleteFromPrimitiveList/finalizers': ['b'] }, want: {} },
  {
    name: '$deleteFromPrimitiveList without a list',
    document: {},
    patch: { $deleteFromPrimitiveList: ['b'] },
    error: 'invalid patch format of primitive list',
  },
  {
    name: '$setElementOrder alone',
    document: { items: items('a', 'b', 'c') },
    patch: { '$setElementOrder/items': [{ name: 'c' }, { name: 'a' }] },
    want: { items: items('b', 'c', 'a') },
  },
  {
    name: '$setElementOrder with a patch',
    document: { items: items('a', 'b') },
    patch: { '$setElementOrder/items': [{ name: 'new' }, { name: 'b' }, { name: 'a' }], items: [{ name: 'new' }] },
    want: { items: [{ name: 'new' }, ...items('b', 'a')] },
  },
  {
    name: '$setElementOrder of a new list',
    document: {},
    patch: { '$setElementOrder/items': [{ name: 'b' }, { name: 'a' }], items: items('b', 'a') },
    want: { items: items('b', 'a') },
  },
  {
    name: '$setElementOrder of primitives',
    document: { finalizers: ['a', 'b', 'c'] },
    patch: { '$setElementOrder/finalizers': ['c', 'd', 'a'], finalizers: ['d'] },
    want: { finalizers: ['b', 'c', 'd', 'a'] },
  },
  {
    name: '$setElementOrder that lacks an item',
    document: { finalizers: ['a'] },
    patch: { '$setElementOrder/finalizers': ['a'], finalizers: ['b'] },
    error: "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
  },
  {
    name: '$setElementOrder that is not a list',
    document: {},
    patch: { '$setElementOrder/items': 'x' },
    error: 'expected a []interface {}, but received a string',
  },
  {
    name: '$setElementOrder without a list',
    document: {},
    patch: { $setElementOrder: [] },
    error: 'invalid patch format of setElementOrder list',
  },
  {
    name: '$retainKeys',
    document: { strategy: { type: 'a', more: { type: 'b' } } },
    patch: { strategy: { $retainKeys: ['type'], type: 'c' } },
    want: { strategy: { type: 'c' } },
  },
  {
    name: '$retainKeys that lacks a key',
    document: { strategy: { type: 'a' } },
    patch: { strategy: { $retainKeys: ['more'], type: 'c' } },
    error: 'invalid patch format of retainKeys',
  },
  {
    name: '$retainKeys in items',
    document: { volumes: [{ name: 'v', value: '1', sub: {} }] },
    patch: { volumes: [{ $retainKeys: ['name', 'sub'], name: 'v', sub: { type: 'x' } }] },
    want: { volumes: [{ name: 'v', sub: { type: 'x' } }] },
  },
  {
    name: 'strategy replace',
    document: { selector: { type: 'a', more: {} } },
    patch: { selector: { type: 'b' } },
    want: { selector: { type: 'b' } },
  },
  {
    name: 'a value of another type replaces',
    document: { labels: { a: '1' }, size: 1 },
    patch: { labels: 'x', size: { a: null } },
    want: { labels: 'x', size: {} },
  },
  {
    name: 'a map below a map of strings',
    document: { labels: { a: { b: 1 } } },
    patch: { labels: { a: { b: 2 } } },
    error: 'merging an object in json but data type is not struct, instead is: map',
  },
  {
    name: 'an unknown field in both',
    document: { nope: { a: 1 } },
    patch: { nope: { a: 2 } },
    error: 'unable to find api field in struct Thing for the json field "nope"',
  },
  { name: 'raw JSON merges one level', document: { raw: { a: 1, b: 2 } }, patch: { raw: { a: 3 } }, want: { raw: { a: 3, b: 2 } } },
  {
    name: 'raw JSON has no fields',
    document: { raw: { a: { b: 2 } } },
    patch: { raw: { a: { c: 3 } } },
    error: 'unable to find api field in struct RawExtension for the json field "a"',
  },
  {
    name: '__proto__ is an ordinary key',
    document: { labels: { a: '1' } },
    patch: { labels: JSON.parse('{"__proto__":"2"}') as JsonObject },
    want: { labels: JSON.parse('{"a":"1","__proto__":"2"}') as JsonObject },
  },
];

describe('applyStrategicMergePatch', () => {
  it.each(rows)('$name', ({ document, patch, want, error }) => {
    const before = structuredClone({ document, patch });
    if (error !== undefined)
      expect(() => applyStrategicMergePatch(document, patch, type)).toThrow(
        expect.objectContaining({ name: 'StrategicMergePatchError', message: error }),
      );
    else expect(applyStrategicMergePatch(document, patch, type)).toStrictEqual(want);
    expect({ document, patch }).toStrictEqual(before);
  });

  it('limits the depth of a patch', () => {
    const deep = () => JSON.parse(`${'{"inner":'.repeat(9000)}{}${'}'.repeat(9000)}`) as JsonObject;
    expect(() => applyStrategicMergePatch(deep(), deep(), type)).toThrow('nested more than 500 levels');
    expect(applyStrategicMergePatch({}, deep(), type)).toHaveProperty('inner');
  });

  it.each([
    {
      patch: { strategy: { $retainKeys: 1 } },
      want: { status: { code: 400, reason: 'BadRequest', message: 'invalid patch format of retainKeys' } },
    },
    { patch: { finalizers: [['x']] }, want: { status: { code: 422, reason: 'Invalid' } } },
    { patch: { items: [{}] }, want: { message: 'map: map[] does not contain declared merge key: name' } },
  ])("returns upstream's error: $want", ({ patch, want }) => {
    let thrown: unknown;
    try {
      applyStrategicMergePatch({ strategy: { type: 'a' }, finalizers: [['y']], items: items('a') }, patch, type);
    } catch (error) {
      thrown = interpretPatchError(error);
    }
    expect(thrown).toMatchObject(want);
  });
});
