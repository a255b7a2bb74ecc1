import { describe, expect, it } from 'vitest';
import { atOnce } from '../runtime/steps.ts';
import { fieldPath } from '../validation/field.ts';
import { applyDefaults, pruneNonNullableNullsWithoutDefaults } from './default.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { validateListSetsAndMaps } from './list-types.ts';
import { prune } from './prune.ts';
import { newStructural, StructuralError } from './structural.ts';
import { FieldPathError, validFieldPath } from './valid-field-path.ts';
import { validateStructural } from './validate-structural.ts';

const text: JsonSchemaProps = { type: 'string' };
const structural = (properties: Record<string, JsonSchemaProps>): ReturnType<typeof newStructural> =>
  newStructural({ type: 'object', properties });

describe('prune', () => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  const cases: [string, Record<string, JsonSchemaProps>, unknown, unknown, string[]][] = [
    ['drops undeclared fields', { a: text }, { a: 'x', b: 1 }, { a: 'x' }, ['b']],
    [
      'drops undeclared fields in lists and maps',
      { l: { type: 'array', items: { type: 'object', properties: { a: text } } } },
      { l: [{ b: 1 }] },
      { l: [{}] },
      ['l[0].b'],
    ],
    [
      'keeps all keys of maps, and drops within their values',
      { m: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } } },
      { m: { k: { a: 'x', b: 1 } } },
      { m: { k: { a: 'x' } } },
      ['m.k.b'],
    ],
    [
      'preserves unknown fields where the schema does, and prunes the declared ones',
      { o: { ...open, properties: { in: { type: 'object', properties: { a: text } } } } },
      { o: { any: { thing: 1 }, in: { a: 'x', b: 1 } } },
      { o: { any: { thing: 1 }, in: { a: 'x' } } },
      ['o.in.b'],
    ],
    [
      'keeps the identity of embedded resources',
      { e: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } } },
      { e: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 1 }, other: 1 } },
      { e: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: {} } },
      ['e.other', 'e.spec.a'],
    ],
    ['treats unusual keys as data', { a: text }, JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}'), {}, ['__proto__', 'constructor']],
  ];
  it.each(cases)('%s', (_, properties, value, pruned, unknown) => {
    expect(atOnce(prune(value, structural(properties), true))).toEqual(unknown);
    expect(value).toEqual(pruned);
  });
});

describe('applyDefaults', () => {
  const cases: [string, Record<string, JsonSchemaProps>, unknown, unknown][] = [
    ['sets absent properties', { a: { ...text, default: 'x' } }, {}, { a: 'x' }],
    ['keeps present properties', { a: { ...text, default: 'x' } }, { a: '' }, { a: '' }],
    ['replaces null if it is not nullable', { a: { ...text, default: 'x' } }, { a: null }, { a: 'x' }],
    ['keeps null if it is nullable', { a: { ...text, default: 'x', nullable: true } }, { a: null }, { a: null }],
    ['creates no objects for nested defaults', { o: { type: 'object', properties: { a: { ...text, default: 'x' } } } }, {}, {}],
    [
      'applies defaults within defaults',
      { o: { type: 'object', default: {}, properties: { a: { ...text, default: 'x' } } } },
      {},
      { o: { a: 'x' } },
    ],
    [
      'applies defaults in lists and maps',
      {
        l: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'x' } } } },
        m: { type: 'object', additionalProperties: { type: 'object', properties: { a: { ...text, default: 'y' } } } },
      },
      { l: [{}, { a: 'z' }], m: { k: {} } },
      { l: [{ a: 'x' }, { a: 'z' }], m: { k: { a: 'y' } } },
    ],
  ];
  it.each(cases)('%s', (_, properties, value, expected) => {
    applyDefaults(value, structural(properties));
    expect(value).toEqual(expected);
  });

  it('gives every object its own copy of a default', () => {
    const schema = structural({ o: { type: 'object', default: {}, 'x-kubernetes-preserve-unknown-fields': true } });
    const [first, second]: { o?: Record<string, unknown> }[] = [{}, {}];
    applyDefaults(first, schema);
    (first!.o as Record<string, unknown>)['changed'] = true;
    applyDefaults(second, schema);
    expect(second).toEqual({ o: {} });
  });

  it('runs after nulls that are neither nullable nor defaulted are dropped', () => {
    const value = { a: null, b: null, c: null };
    atOnce(
      pruneNonNullableNullsWithoutDefaults(value, structural({ a: text, b: { ...text, default: 'x' }, c: { ...text, nullable: true } })),
    );
    expect(value).toEqual({ b: null, c: null });
  });
});

describe('validateListSetsAndMaps', () => {
  const object: JsonSchemaProps = { type: 'object', properties: { k: text, p: { type: 'integer' } } };
  const cases: [string, JsonSchemaProps, unknown[], string[]][] = [
    ['a set without duplicates', { items: text, 'x-kubernetes-list-type': 'set' }, ['a', 'b'], []],
    ['a set with duplicates', { items: text, 'x-kubernetes-list-type': 'set' }, ['a', 'b', 'a', 'a'], ['spec[2]: Duplicate value: "a"']],
    [
      'a map with duplicates',
      { items: object, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      [
        { k: 'a', p: 1 },
        { k: 'a', p: 2 },
      ],
      ['spec[1]: Duplicate value: {"k":"a"}'],
    ],
    [
      'a map by two keys',
      { items: object, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'p'] },
      [
        { k: 'a', p: 1 },
        { k: 'a', p: 2 },
      ],
      [],
    ],
    ['an atomic list', { items: text, 'x-kubernetes-list-type': 'atomic' }, ['a', 'a'], []],
  ];
  it.each(cases)('%s', (_, schema, value, errors) => {
    expect(validateListSetsAndMaps(fieldPath('spec'), newStructural({ type: 'array', ...schema }), value).map(String)).toEqual(errors);
  });
});

describe('validateStructural', () => {
  const cases: [string, JsonSchemaProps, string[]][] = [
    ['a described object', { type: 'object', properties: { a: text } }, []],
    ['no type at the root', {}, ['spec.type: Required value: must not be empty at the root']],
    ['another type at the root', { type: 'array', items: text }, ['spec.type: Invalid value: "array": must be object at the root']],
    [
      'no type of a field',
      { type: 'object', properties: { a: {} } },
      ['spec.properties[a].type: Required value: must not be empty for specified object fields'],
    ],
    [
      'no type of items',
      { type: 'object', properties: { a: { type: 'array', items: {} } } },
      ['spec.properties[a].items.type: Required value: must not be empty for specified array items'],
    ],
    [
      'additionalProperties at the root',
      { type: 'object', properties: { a: text }, additionalProperties: text },
      ['spec.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'types within anyOf',
      { type: 'object', anyOf: [{ type: 'object' }] },
      ['spec.anyOf[0].type: Forbidden: must be empty to be structural'],
    ],
    [
      'fields that occur only in anyOf',
      { type: 'object', anyOf: [{ properties: { a: {} } }] },
      ['spec.properties[a]: Required value: because it is defined in spec.anyOf[0].properties[a]'],
    ],
    [
      'int-or-string that preserves unknown fields',
      { type: 'object', properties: { a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-int-or-string': true } } },
      ['spec.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true'],
    ],
    [
      'limits of metadata',
      { type: 'object', properties: { metadata: { type: 'object', minProperties: 1 } } },
      [
        'spec.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
  ];
  it.each(cases)('%s', (_, schema, errors) => {
    expect(validateStructural(fieldPath('spec'), newStructural(schema)).map(String)).toEqual(errors);
  });

  it('is not run on schemas that cannot be structural', () => {
    expect(() => newStructural({ type: 'object', $ref: '#/a' })).toThrow(StructuralError);
  });
});

describe('validFieldPath', () => {
  const schema = structural({
    a: { type: 'object', properties: { "it's": text, 'b.c': text } },
    m: { type: 'object', additionalProperties: { type: 'object', properties: { x: text } } },
  });
  it.each([
    [".a['b.c']", 'a.b.c'],
    [".a['it\\'s']", "a.it's"],
    ["['a']", 'a'],
    ['.m.k.x', 'm[k].x'],
  ])('%s', (path, expected) => {
    expect(String(validFieldPath(path, schema).path)).toBe(expected);
  });
  it.each([
    ['.z', 'does not refer to a valid field'],
    ['.a[0]', 'expected single quoted string but got 0'],
    ['a', 'expected [ or . but got: a'],
    ['.a.', 'unexpected end of JSON path'],
  ])('rejects %s', (path, message) => {
    expect(() => validFieldPath(path, schema)).toThrow(new FieldPathError(message));
  });
});
