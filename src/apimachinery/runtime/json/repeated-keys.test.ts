import { expect, test, vi } from 'vitest';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { parseJson } from './json.ts';
import { type MergedJson, mergeRepeatedKeys } from './repeated-keys.ts';
import type { StructType } from '../schema.ts';
import { atOnce } from '../steps.ts';

function merged(text: string): MergedJson {
  const bytes = Buffer.from(text);
  return atOnce(mergeRepeatedKeys(metaSchema.struct('meta_v1.ObjectMeta'), bytes, parseJson(bytes).repeatedKeys ?? []));
}

test.each([
  {
    what: 'the keys of maps',
    text: '{"labels":{"a":"1","b":"1"},"labels":{"b":"2"}}',
    value: { labels: { a: '1', b: '2' } },
    errors: ['labels'],
  },
  { what: 'a key within a map', text: '{"labels":{"a":"1","a":"2"}}', value: { labels: { a: '2' } }, errors: ['labels.a'] },
  {
    what: 'lists item by item',
    text: '{"ownerReferences":[{"name":"a","uid":"u"},{"name":"b"}],"ownerReferences":[{"kind":"K"}]}',
    value: { ownerReferences: [{ name: 'a', uid: 'u', kind: 'K' }] },
    errors: ['ownerReferences'],
  },
  { what: 'null over a string', text: '{"name":"a","name":null}', value: { name: 'a' }, errors: ['name'] },
  { what: 'null over a map', text: '{"labels":{"a":"1"},"labels":null}', value: { labels: null }, errors: ['labels'] },
  {
    what: 'null over a pointer',
    text: '{"deletionGracePeriodSeconds":1,"deletionGracePeriodSeconds":null}',
    value: { deletionGracePeriodSeconds: null },
    errors: ['deletionGracePeriodSeconds'],
  },
  {
    what: 'a type that is not a struct in Go',
    text: '{"managedFields":[{"fieldsV1":{"f:a":{"x":1},"f:a":{"y":{}}}}]}',
    value: { managedFields: [{ fieldsV1: { 'f:a': { y: {} } } }] },
    errors: [],
  },
])('merges $what', ({ text, value, errors }) => {
  expect(merged(text)).toEqual({ value, strictErrors: errors.map((path) => `duplicate field "${path}"`) });
});

test('rejects objects deeper than structs may be', () => {
  const text = `{"not":{},"not":${'{"not":'.repeat(5_000)}{}${'}'.repeat(5_000)}}`;
  const type: StructType = {
    kind: 'struct',
    name: 'test_v1.Nested',
    goName: 'v1.Nested',
    get fields() {
      return new Map([
        ['not', { name: 'not', type, required: false, ptr: true, always: false, omitzero: false, default: undefined, atomic: false }],
      ]);
    },
    atomic: false,
    preserveUnknownFields: false,
  };
  const bytes = Buffer.from(text);
  expect(() => atOnce(mergeRepeatedKeys(type, bytes, parseJson(bytes).repeatedKeys ?? []))).toThrow('exceeded max depth');
});

test('reports unknown and duplicate fields in document order, and none within unknown fields', () => {
  const { strictErrors } = merged('{"x":{"a":1,"a":2},"name":"a","name":"b","y":1,"y":2,"name":"c"}');
  expect(strictErrors).toEqual(['unknown field "x"', 'duplicate field "name"', 'unknown field "y"']);
});

test('the random numbers that clients see do not determine the marks', async () => {
  // Node ports and service addresses, for example, reveal the state of `Math.random`.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  try {
    vi.resetModules();
    await import('./repeated-keys.ts');
    expect(random).not.toHaveBeenCalled();
  } finally {
    random.mockRestore();
  }
});
