import { describe, expect, it } from 'vitest';
import { dropNullFields, mayHoldNull } from './null-fields.ts';
import { SchemaRegistry, type SchemaTable } from './schema.ts';

const text = { type: 'string' } as const;
const tables: Readonly<Record<string, SchemaTable>> = {
  test_v1: {
    Slice: {
      fields: {
        name: text,
        endpoints: { type: 'array', items: { ref: 'Endpoint' }, always: true },
        more: { map: { ref: 'Endpoint' } },
        any: { ref: 'runtime.RawExtension' },
      },
    },
    Endpoint: { fields: { addresses: { type: 'array', items: text, always: true }, next: { ref: 'Endpoint', ptr: true } } },
    Plain: { fields: { name: text, list: { type: 'array', items: text } } },
  },
};
const registry = new SchemaRegistry((file) => tables[file] as SchemaTable);
const slice = registry.struct('test_v1.Slice');

describe('dropNullFields', () => {
  it.each([
    [{ name: 'a', endpoints: null }, { name: 'a' }],
    [{ endpoints: [{ addresses: null, next: { addresses: null } }] }, { endpoints: [{ next: {} }] }],
    [
      { endpoints: [], more: { a: { addresses: null }, b: null } },
      { endpoints: [], more: { a: {}, b: null } },
    ],
    [
      { endpoints: [], any: { a: null } },
      { endpoints: [], any: { a: null } },
    ],
  ])('%j becomes %j', (object, want) => {
    dropNullFields(slice, object);
    expect(object).toEqual(want);
  });

  it('skips types that never have nulls', () => {
    expect(mayHoldNull(slice)).toBe(true);
    expect(mayHoldNull(registry.struct('test_v1.Plain'))).toBe(false);
  });
});
