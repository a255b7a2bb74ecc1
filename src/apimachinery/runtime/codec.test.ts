import { describe, expect, test } from 'vitest';
import { decode } from './decode.ts';
import { encode, encodeLine, encodeLineSteps } from './encode.ts';
import { isZero } from './zero.ts';
import { DecodeError, parseJson } from './json/json.ts';
import { SchemaRegistry, type SchemaTable, type StructType } from './schema.ts';
import { atOnce } from './steps.ts';

const tables: Record<string, SchemaTable> = {
  test_v1: {
    Thing: {
      fields: {
        kind: { type: 'string' },
        apiVersion: { type: 'string' },
        metadata: { ref: 'Meta', always: true },
        spec: { ref: 'Spec', always: true },
        rules: { type: 'array', items: { ref: 'Part' }, always: true },
        data: { map: { type: 'string' } },
        binary: { map: { type: 'string', format: 'byte' } },
        raw: { ref: 'runtime.RawExtension' },
        any: { type: 'object' },
      },
      gvk: ['test/v1/Thing'],
    },
    Meta: { fields: { name: { type: 'string' }, labels: { map: { type: 'string' } }, created: { ref: 'meta_v1.Time', omitzero: true } } },
    Spec: {
      fields: {
        replicas: { type: 'integer', ptr: true },
        size: { type: 'integer', format: 'int64' },
        ratio: { type: 'number' },
        paused: { type: 'boolean' },
        parts: { type: 'array', items: { ref: 'Part' } },
        limits: { map: { ref: 'resource.Quantity' } },
        port: { ref: 'intstr.IntOrString', ptr: true },
        renewed: { ref: 'meta_v1.MicroTime', ptr: true },
        zero: { ref: 'Part', omitzero: true },
        words: { type: 'array', items: { type: 'string' } },
        byName: { map: { ref: 'Part' } },
      },
    },
    Volume: { fields: { sources: { type: 'array', items: { type: 'string' }, always: true, nullWhenEmpty: true } } },
    Part: {
      fields: { name: { type: 'string', always: true }, inner: { ref: 'Spec', ptr: true }, probed: { ref: 'meta_v1.Time', always: true } },
    },
  },
};
const registry = new SchemaRegistry((file) => tables[file] ?? {});
const thing = registry.struct('test_v1.Thing');

function roundTrip(text: string): string {
  const { object } = decode(thing, parseJson(Buffer.from(text)).value);
  const encoded = encode(thing, object);
  for (const line of [encodeLine(thing, object), atOnce(encodeLineSteps(thing, object))]) expect(line.toString()).toBe(`${encoded}\n`);
  return encoded;
}

const empty = '"metadata":{},"spec":{},"rules":null';

/** Encodes an object in chunks, and compares the result with that of `encodeLine`. Returns the number of yields. */
function turnsToEncode(object: object): number {
  const steps = encodeLineSteps(thing, object);
  let turns = 0;
  let step = steps.next();
  for (; !step.done; turns++) step = steps.next();
  expect(step.value).toEqual(encodeLine(thing, object));
  return turns;
}

describe('decode and encode', () => {
  test.each<[name: string, text: string, encoded: string]>([
    ['always fields are added', '{}', `{${empty}}`],
    [
      'fields are in the order of the struct',
      '{"spec":{"size":1,"replicas":2},"metadata":{"labels":{},"name":"a"},"kind":"Thing"}',
      '{"kind":"Thing","metadata":{"name":"a"},"spec":{"replicas":2,"size":1},"rules":null}',
    ],
    ['zero values are omitted', '{"kind":"","spec":{"size":0,"paused":false,"parts":[],"limits":{}},"data":null}', `{${empty}}`],
    ['zero values of pointers are kept', '{"spec":{"replicas":0,"port":0}}', '{"metadata":{},"spec":{"replicas":0,"port":0},"rules":null}'],
    ['an empty list without omitempty is kept', '{"rules":[]}', '{"metadata":{},"spec":{},"rules":[]}'],
    [
      'null items are zero values',
      '{"rules":[null],"spec":{"words":["a",null]}}',
      '{"metadata":{},"spec":{"words":["a",""]},"rules":[{"name":"","probed":null}]}',
    ],
    [
      'maps are sorted and escaped',
      '{"data":{"b":"<","a":null,"10":"x","9":"y","__proto__":"z"}}',
      `{${empty},"data":{"10":"x","9":"y","__proto__":"z","a":"","b":"\\u003c"}}`,
    ],
    [
      'base64 is canonical',
      '{"binary":{"a":"QR==","b":"Q\\nQ==","c":[1,2],"d":null}}',
      `{${empty},"binary":{"a":"QQ==","b":"QQ==","c":"AQI=","d":""}}`,
    ],
    [
      'zero times are omitted',
      '{"metadata":{"created":"0001-01-01T00:00:00Z"},"rules":[{"name":"a","probed":"0001-01-01T00:00:00Z"}]}',
      '{"metadata":{},"spec":{},"rules":[{"name":"a","probed":null}]}',
    ],
    [
      'quantities are canonical',
      '{"spec":{"limits":{"cpu":"1000m","memory":1e9,"x":0.5,"y":"1024Mi"}}}',
      '{"metadata":{},"spec":{"limits":{"cpu":"1","memory":"1e9","x":"500m","y":"1Gi"}},"rules":null}',
    ],
    ['zero structs with omitzero are omitted', '{"spec":{"zero":{"name":""}}}', `{${empty}}`],
    [
      'raw keeps its order, any is sorted',
      '{"raw":{"b":1,"a":2},"any":{"b":1,"a":2}}',
      `{${empty},"raw":{"b":1,"a":2},"any":{"a":2,"b":1}}`,
    ],
    ['64 bits', '{"spec":{"size":9007199254740993}}', '{"metadata":{},"spec":{"size":9007199254740993},"rules":null}'],
  ])('%s', (_name, text, encoded) => {
    expect(roundTrip(text)).toBe(encoded);
    expect(roundTrip(encoded)).toBe(encoded);
  });

  test('empty lists and maps are read and not written', () => {
    const text = '{"metadata":{"labels":{}},"spec":{"words":[],"limits":{},"byName":{"a":{"inner":{"parts":[]}}}}}';
    const { object } = decode(thing, parseJson(Buffer.from(text)).value);
    expect(object).toEqual(JSON.parse(text));
    expect(encode(thing, object)).toBe('{"metadata":{},"spec":{"byName":{"a":{"name":"","inner":{},"probed":null}}},"rules":null}');
  });

  test('yields within large lists, maps and raw values', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${(i * 7_919) % 20_000}`);
    const map = (value: unknown) => Object.fromEntries(keys.map((key) => [key, value]));
    const parts = keys.map((name) => ({ name, inner: { words: [name, 'é<'] } }));
    const text = {
      metadata: { labels: map('') },
      data: map('x'),
      spec: { parts, words: keys, byName: map({ name: 'a' }) },
      raw: map({}),
      any: [map(1)],
    };
    const object = decode(thing, text).object;
    expect(turnsToEncode(object)).toBeGreaterThan(200);
  });

  test('yields within short lists and maps in each other', () => {
    const items = <T>(make: (i: number) => T): T[] => Array.from({ length: 36 }, (_, i) => make(i));
    const words = () => ({ inner: { words: items((i) => `w${i}`), byName: { a: { inner: { limits: { cpu: '1' } } } } } });
    const object = {
      spec: { parts: items(() => ({ inner: { parts: items(words) } })), byName: { a: { inner: { parts: items(words) } } } },
    };
    expect(turnsToEncode(object)).toBeGreaterThan(30);
  });

  test('drops and reports unknown fields', () => {
    const { value } = parseJson(
      Buffer.from('{"x":1,"spec":{"parts":[{"name":"a"},{"y":{"z":1}}],"byName":{"k":{"w":1}}},"__proto__":{"p":1}}'),
    );
    const { object, unknownFields } = decode(thing, value);
    expect(unknownFields).toEqual(['x', 'spec.parts[1].y', 'spec.byName.k.w', '__proto__']);
    expect(object).toEqual({ spec: { parts: [{ name: 'a' }, {}], byName: { k: {} } } });
    expect(decode(thing, { x: 1 }, { strict: false }).unknownFields).toEqual([]);
  });

  test('returns the parsed object if nothing changes', () => {
    const value = { kind: 'Thing', spec: { words: ['a'] } };
    expect(decode(thing, value).object).toBe(value);
  });

  test('a struct that preserves unknown fields', () => {
    const open: StructType = {
      kind: 'struct',
      name: 'x',
      goName: 'v1.X',
      fields: thing.fields,
      atomic: false,
      preserveUnknownFields: true,
    };
    const { object, unknownFields } = decode(open, { z: null, data: { b: '1' }, a: { y: 1, x: 2 } });
    expect(unknownFields).toEqual([]);
    expect(encode(open, object)).toBe('{"a":{"x":2,"y":1},"data":{"b":"1"},"z":null}');
  });
});

describe('values of the wrong type', () => {
  const into = (field: string, type: string): string => `into Go struct field ${field} of type ${type}`;
  test.each<[text: string, message: string]>([
    ['5', 'json: cannot unmarshal number into Go value of type v1.Thing'],
    ['[]', 'json: cannot unmarshal array into Go value of type v1.Thing'],
    ['{"kind":5}', `json: cannot unmarshal number ${into('Thing.TypeMeta.kind', 'string')}`],
    ['{"spec":[]}', `json: cannot unmarshal array ${into('Thing.spec', 'v1.Spec')}`],
    ['{"data":"x"}', `json: cannot unmarshal string ${into('Thing.data', 'map[string]string')}`],
    ['{"data":{"a":5}}', `json: cannot unmarshal number ${into('Thing.data', 'string')}`],
    ['{"spec":{"parts":{}}}', `json: cannot unmarshal object ${into('Spec.spec.parts', '[]v1.Part')}`],
    ['{"spec":{"parts":[{"inner":{"replicas":"1"}}]}}', `json: cannot unmarshal string ${into('Spec.spec.parts.inner.replicas', 'int32')}`],
    ['{"spec":{"replicas":2147483648}}', `json: cannot unmarshal number 2147483648 ${into('Spec.spec.replicas', 'int32')}`],
    ['{"spec":{"replicas":1.0}}', `json: cannot unmarshal number 1.0 ${into('Spec.spec.replicas', 'int32')}`],
    ['{"spec":{"size":9223372036854775808}}', `json: cannot unmarshal number 9223372036854775808 ${into('Spec.spec.size', 'int64')}`],
    ['{"spec":{"paused":"x"},"data":5}', `json: cannot unmarshal string ${into('Spec.spec.paused', 'bool')}`],
    ['{"spec":{"port":true}}', `json: cannot unmarshal bool ${into('Spec.spec.port', 'int32')}`],
    ['{"metadata":{"created":5}}', `json: cannot unmarshal number ${into('Meta.metadata.created', 'string')}`],
    ['{"metadata":{"created":"x"}}', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [
      '{"spec":{"renewed":"2020-01-01T00:00:00.5Z"}}',
      'parsing time "2020-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000"',
    ],
    [
      '{"spec":{"paused":"x","limits":{"cpu":"x"}}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['{"binary":{"a":"QUJD*"}}', 'illegal base64 data at input byte 4'],
    ['{"binary":{"a":"QQ"}}', 'illegal base64 data at input byte 0'],
    ['{"binary":{"a":"QQ=x"}}', 'illegal base64 data at input byte 2'],
  ])('%s', (text, message) => {
    const { value } = parseJson(Buffer.from(text));
    expect(() => decode(thing, value)).toThrow(new DecodeError(message));
  });

  test('unlimited nesting of a recursive type', () => {
    const text = `${'{"spec":{"parts":[{"inner":'.slice(0, 8)}${'{"parts":[{"inner":'.repeat(3000)}null${'}]}'.repeat(3000)}}`;
    const { value } = parseJson(Buffer.from(text));
    expect(() => decode(thing, value)).toThrow(DecodeError);
  });
});

test.each<[field: string, value: unknown, zero: boolean]>([
  ['spec', {}, true],
  ['spec', { size: 0, paused: false }, true],
  ['spec', { replicas: 0 }, false],
  ['spec', { words: [] }, false],
  ['rules', undefined, true],
])('isZero of %s %j', (field, value, zero) => {
  expect(isZero(thing.fields.get(field)!.type, value)).toBe(zero);
});

test('an empty list that upstream stores as absent becomes null', () => {
  const volume = registry.struct('test_v1.Volume');
  expect(encode(volume, decode(volume, { sources: [] }).object)).toBe('{"sources":null}');
});
