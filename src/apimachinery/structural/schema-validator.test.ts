import { describe, expect, it } from 'vitest';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { SchemaValidator } from './schema-validator.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const errorsOf = (schema: JsonSchemaProps, value: unknown): string[] =>
  new SchemaValidator({ type: 'object', properties: { spec: schema } }).validate(undefined, { spec: value }).map(String);

describe('SchemaValidator', () => {
  const cases: [string, JsonSchemaProps, unknown, string[]][] = [
    ['a type', { type: 'integer' }, 'x', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
    ['a whole number for number', { type: 'number' }, 3, []],
    [
      'a fraction for integer',
      { type: 'integer' },
      1.5,
      [
        'spec: Invalid value: "number": spec in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
      ],
    ],
    [
      'a number out of the int64 range',
      { type: 'integer', maximum: 10 },
      2n ** 62n,
      ['spec: Invalid value: 4611686018427387904: spec in body should be less than or equal to 10'],
    ],
    ['null', { type: 'string' }, null, ['spec: Invalid value: "null": spec in body must be of type string: "null"']],
    ['a nullable null', { type: 'string', nullable: true }, null, []],
    ['a minimum', { type: 'integer', minimum: 1 }, 0, ['spec: Invalid value: 0: spec in body should be greater than or equal to 1']],
    [
      'an exclusive minimum',
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      ['spec: Invalid value: 1: spec in body should be greater than 1'],
    ],
    ['a multiple', { type: 'integer', multipleOf: 3 }, 4, ['spec: Invalid value: 4: spec in body should be a multiple of 3']],
    ['a length in characters', { type: 'string', maxLength: 2 }, 'añ😀', ['spec: Too long: may not be more than 2 bytes']],
    ['a length that fits', { type: 'string', maxLength: 3 }, 'añ😀', []],
    ['a pattern', { type: 'string', pattern: '^a+$' }, 'ab', ['spec: Invalid value: "ab": spec in body should match \'^a+$\'']],
    ['a pattern with RE2-only syntax', { type: 'string', pattern: '(?i)^A\\z' }, 'a', []],
    ['an enumeration', { type: 'string', enum: ['a', 'b'] }, 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
    ['required fields', { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, {}, ['spec.a: Required value']],
    [
      'the number of items',
      { type: 'array', maxItems: 1, items: { type: 'string' } },
      ['a', 'b'],
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'the number of fields',
      { type: 'object', minProperties: 1 },
      {},
      ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
    ],
    [
      'unique items',
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      ['a', 'a'],
      ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
    ],
    ['a fraction whose integer part is allowed', { enum: [1, '3'] }, 1.5, []],
    ['the code point of an allowed string', { enum: [1, '3'] }, 51, []],
    [
      'a number out of the integer range',
      { maximum: 5 },
      1e20,
      ['spec: Invalid value: 1e+20: spec in body should be less than or equal to 5'],
    ],
    ['not', { not: { type: 'string', enum: ['a'] } }, 'a', ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']],
    [
      'items by index',
      { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
      [{ n: 1 }, { n: 'x' }],
      ['spec[1].n: Invalid value: "string": spec[1].n in body must be of type integer: "string"'],
    ],
    ['int-or-string', { 'x-kubernetes-int-or-string': true }, '5%', []],
    [
      'an int-or-string of another type',
      { 'x-kubernetes-int-or-string': true },
      true,
      ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
    ],
    ['a format', { type: 'string', format: 'ipv4' }, '1.2.3', ['spec: Invalid value: "1.2.3": spec in body must be of type ipv4: "1.2.3"']],
    ['an unknown format', { type: 'string', format: 'phone' }, 'x', []],
  ];
  it.each(cases)('%s', (_, schema, value, errors) => {
    expect(errorsOf(schema, value)).toEqual(errors);
  });

  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-01-01T00:00:00Z', '2024-01-01'],
    ['uuid', '01234567-89ab-cdef-0123-456789abcdef', '01234567'],
    ['ipv6', '::1', '1.2.3.4'],
    ['cidr', '10.0.0.0/8', '10.0.0.0'],
    ['mac', '00:00:5e:00:53:01', '00:00'],
    ['byte', 'aGk=', 'a'],
    ['duration', '1h', 'soon'],
    ['hostname', 'a.example', 'a_b'],
    ['k8s-short-name', 'a-b', 'A'],
  ])('supports the format %s', (format, good, bad) => {
    const validator = new SchemaValidator({ type: 'string', format });
    expect(validator.validate(undefined, good)).toEqual([]);
    expect(validator.validate(undefined, bad)).toHaveLength(1);
  });

  describe('ratchets on update', () => {
    const schema: JsonSchemaProps = {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1 },
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          maxItems: 2,
          items: { type: 'object', properties: { k: { type: 'string' }, size: { type: 'integer', minimum: 1 } } },
        },
        plain: { type: 'array', items: { type: 'integer', minimum: 1 } },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, required: ['k'] },
      },
    };
    const cases: [string, unknown, unknown, string[]][] = [
      ['accepts an unchanged invalid value', { size: 0, other: 1 }, { size: 0 }, []],
      ['rejects a changed invalid value', { size: -1 }, { size: 0 }, ['size']],
      [
        'correlates items of maps by their keys',
        {
          list: [
            { k: 'b', size: 1 },
            { k: 'a', size: 0 },
          ],
        },
        { list: [{ k: 'a', size: 0 }] },
        [],
      ],
      ['rejects new invalid items of maps', { list: [{ k: 'b', size: 0 }] }, { list: [{ k: 'a', size: 0 }] }, ['list[0].size']],
      [
        'accepts items of maps in another order',
        { list: [{ k: 'c' }, { k: 'b' }, { k: 'a' }] },
        { list: [{ k: 'a' }, { k: 'b' }, { k: 'c' }] },
        [],
      ],
      [
        'rejects too many changed items of maps',
        { list: [{ k: 'c' }, { k: 'b' }, { k: 'd' }] },
        { list: [{ k: 'a' }, { k: 'b' }, { k: 'c' }] },
        ['list'],
      ],
      ['rejects unchanged values that the schema does not describe', { open: { x: 1 } }, { open: { x: 1 } }, ['open.k']],
      ['ratchets atomic lists as a whole', { plain: [0, 1] }, { plain: [0] }, ['plain[0]']],
    ];
    it.each(cases)('%s', (_, value, old, fields) => {
      expect(new SchemaValidator(schema).validateUpdate(undefined, value, old).map(({ field }) => field)).toEqual(fields);
    });
  });

  it('matches a pattern with hundreds of states against a megabyte within moments', () => {
    const began = threadMilliseconds();
    expect(errorsOf({ type: 'string', pattern: '(?i)a{500}b' }, `${'a'.repeat(1_000_000)}b`)).toEqual([]);
    expect(threadMilliseconds() - began).toBeLessThan(1_000);
  });
});
