import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cborKind, decodeCbor, encodeCbor, encodeCborListItem, cborList, isCbor, parseCbor, parseCborMap } from './cbor.ts';
import { diagnoseCbor } from './cbor-diagnostic.ts';
import { encodeJson, encodeRawJson } from '../json/json.ts';
import { Float64 } from '../numbers.ts';
import { SchemaRegistry } from '../schema.ts';
import { atOnce } from '../steps.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Items of RFC 8949, appendix A, and their values in the API's dialect. */
const items: readonly (readonly [string, unknown])[] = [
  ['00', 0],
  ['17', 23],
  ['1818', 24],
  ['1903e8', 1000],
  ['1a000f4240', 1_000_000],
  ['1b000000e8d4a51000', 1_000_000_000_000],
  ['1b001fffffffffffff', 9_007_199_254_740_991],
  ['1b0020000000000000', 9_007_199_254_740_992n],
  ['1b7fffffffffffffff', 9_223_372_036_854_775_807n],
  ['20', -1],
  ['3863', -100],
  ['3b001ffffffffffffe', -9_007_199_254_740_991],
  ['3b001fffffffffffff', -9_007_199_254_740_992n],
  ['3b7fffffffffffffff', -9_223_372_036_854_775_808n],
  ['f90000', Float64.of(0)],
  ['f98000', Float64.of(-0)],
  ['f93c00', Float64.of(1)],
  ['fb3ff199999999999a', 1.1],
  ['f97bff', Float64.of(65_504)],
  ['fa47c35000', Float64.of(100_000)],
  ['fa7f7fffff', 3.4028234663852886e38],
  ['fb7e37e43c8800759c', 1e300],
  ['f90001', 2 ** -24],
  ['f90400', 0.00006103515625],
  ['f9c400', Float64.of(-4)],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
  ['c07818323031332d30332d32315432303a30343a30302e3130305a', '2013-03-21T20:04:00.1Z'],
  ['c11a514b67b0', '2013-03-21T20:04:00Z'],
  ['c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
  ['c120', '1969-12-31T23:59:59Z'],
  ['d74401020304', '01020304'],
  ['d64401020304', 'AQIDBA=='],
  ['d543fbff00', '-_8A'],
  ['d6824161d74161', ['YQ==', '61']],
  ['d9d9f7d9d9f701', 1],
  ['d8184449455446', 'IETF'],
  ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', 'http://www.example.com'],
  ['40', ''],
  ['4449455446', 'IETF'],
  ['6449455446', 'IETF'],
  ['62c3bc', 'ü'],
  ['64f0908591', '\u{10151}'],
  ['80', []],
  ['83010203', [1, 2, 3]],
  ['8301820203820405', [1, [2, 3], [4, 5]]],
  ['a0', {}],
  ['a26161016162820203', { a: 1, b: [2, 3] }],
  ['5f42010243030405ff', '\u0001\u0002\u0003\u0004\u0005'],
  ['7f657374726561646d696e67ff', 'streaming'],
  ['9fff', []],
  ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
  ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
  ['a1f601', { '': 1 }],
  ['a1495f5f70726f746f5f5f01', JSON.parse('{"__proto__":1}')],
];

const refused: readonly (readonly [string, string])[] = [
  ['', 'EOF'],
  ['18', 'unexpected EOF'],
  ['81', 'unexpected EOF'],
  ['9f01', 'unexpected EOF'],
  ['4261', 'unexpected EOF'],
  ['c0', 'unexpected EOF'],
  ['0000', 'cbor: 1 bytes of extraneous data starting at index 1'],
  ['1c', 'cbor: invalid additional information 28 for type positive integer'],
  ['3f', 'cbor: invalid additional information 31 for type negative integer'],
  ['df', 'cbor: invalid additional information 31 for type tag'],
  ['f818', 'cbor: invalid simple value 24 for type primitives'],
  ['ff', 'cbor: unexpected "break" code'],
  ['bf01ff', 'cbor: unexpected "break" code'],
  ['5f6161ff', 'cbor: wrong element type UTF-8 text string for indefinite-length byte string'],
  ['7f7f6161ffff', 'cbor: indefinite-length UTF-8 text string chunk is not definite-length'],
  ['5bffffffffffffffff', 'cbor: byte string length 18446744073709551615 is too large, causing integer overflow'],
  ['9bffffffffffffffff', 'cbor: array length 18446744073709551615 is too large, it would cause integer overflow'],
  ['9a80000000', 'cbor: exceeded max number of elements 2147483647 for CBOR array'],
  ['ba00200001', 'cbor: exceeded max number of key-value pairs 2097152 for CBOR map'],
  ['c24101', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  ['f97e00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
  ['fbfff0000000000000', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
  ['f7', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
  ['f8ff', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 255 is not recognized'],
  ['1bffffffffffffffff', "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)"],
  [
    '3bffffffffffffffff',
    "cbor: cannot unmarshal negative integer into Go value of type int64 (-18446744073709551616 overflows Go's int64)",
  ],
  ['61ff', 'cbor: invalid UTF-8 string'],
  ['a2416101416102', 'cbor: found duplicate map key "a" at map element index 1'],
  ['a2416101616102', 'cbor: found duplicate map key "a" at map element index 1'],
  ['a10101', 'cbor: cannot unmarshal positive integer into Go value of type string'],
  ['a18001', 'cbor: cannot unmarshal array into Go value of type string'],
  ['c04161', 'cbor: tag number 0 must be followed by text string, got byte string'],
  ['c06161', 'cbor: cannot set a for time.Time: parsing time "a" as "2006-01-02T15:04:05Z07:00": cannot parse "a" as "2006"'],
  ['c16161', 'cbor: tag number 1 must be followed by integer or floating-point number, got UTF-8 text string'],
  [
    'c11b000000e8d4a51000',
    'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
  ],
];

describe('parseCbor', () => {
  it.each(items)('%s', (bytes, want) => {
    const value = parseCbor(hex(bytes));
    expect(value).toStrictEqual(want);
    // The matcher does not compare the value of a Float64.
    expect(encodeRawJson(value)).toBe(encodeRawJson(want));
  });

  it.each(refused)('%s: %s', (bytes, message) => {
    expect(() => parseCbor(hex(bytes))).toThrow(expect.objectContaining({ name: 'DecodeError', message }));
  });

  it.each([
    { what: 'lists', head: '81', end: '', most: 10_000, encoded: 10_004 },
    { what: 'maps', head: 'a14161', end: '', most: 10_000, encoded: 30_004 },
    { what: 'lists of indefinite length', head: '9f', end: 'ff', most: 10_000, encoded: 10_004 },
    // The outermost is not counted.
    { what: 'tags', head: 'c6', end: '', most: 10_001, encoded: 4 },
  ])('accepts this many nested $what, and no more: $most', ({ head, end, most, encoded }) => {
    const nested = (depth: number) => parseCbor(hex(`${head.repeat(depth)}01${end.repeat(depth)}`));
    expect(encodeCbor(undefined, nested(most))).toHaveLength(encoded);
    expect(() => nested(most + 1)).toThrow('cbor: exceeded max nested level 10000');
  });

  it('decodes arbitrary bytes or reports an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          encodeCbor(undefined, parseCbor(Buffer.from(bytes)));
        } catch (error) {
          expect(error).toMatchObject({ name: 'DecodeError' });
        }
      }),
    );
  });
});

describe('parseCborMap', () => {
  it('sorts the keys of maps if requested', () => {
    const bytes = hex('a2 4162 a24163 01 4161 02 4161 f5');
    expect(encodeRawJson(atOnce(parseCborMap(bytes, true)))).toBe('{"b":{"a":2,"c":1},"a":true}');
    expect(encodeRawJson(atOnce(parseCborMap(bytes)))).toBe('{"b":{"c":1,"a":2},"a":true}');
  });

  it('sorts many keys', () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `k${(i * 7_919) % 10_000}`);
    const { a } = atOnce(parseCborMap(encodeCbor(undefined, { a: Object.fromEntries(keys.map((key, i) => [key, i])) }), true));
    expect(Object.keys(a as object)).toEqual(keys.toSorted());
  });

  it('reads null as an empty map', () => {
    expect(atOnce(parseCborMap(hex('f6')))).toEqual({});
    expect(atOnce(parseCborMap(hex('a14161f6')))).toEqual({ a: null });
  });

  it('rejects other items than maps', () => {
    expect(() => atOnce(parseCborMap(hex('80')))).toThrow('cbor: cannot unmarshal array into Go value of type map[string]interface {}');
  });
});

describe('encodeCbor', () => {
  it.each<readonly [unknown, string]>([
    [null, 'f6'],
    [true, 'f5'],
    [0, '00'],
    [255, '18ff'],
    [65_536, '1a00010000'],
    [2 ** 32, '1b0000000100000000'],
    [9_223_372_036_854_775_807n, '1b7fffffffffffffff'],
    [-1, '20'],
    [-(2 ** 32) - 1, '3b0000000100000000'],
    [-9_223_372_036_854_775_808n, '3b7fffffffffffffff'],
    [0.5, 'f93800'],
    [1e5 + 0.5, 'fa47c35040'],
    [65_504.5, 'fa477fe080'],
    [2 ** -24, 'f90001'],
    [1.1, 'fb3ff199999999999a'],
    [1e20, 'fb4415af1d78b58c40'],
    ['', '40'],
    ['größe', '476772c3b6c39f65'],
    ['x'.repeat(24), `5818${'78'.repeat(24)}`],
    [['a', 1], '82416101'],
    [{ bb: 1, a: 2, ü: 3, c: undefined, ab: 4 }, 'a4416102426162044262620142c3bc03'],
  ])('%o becomes %s', (value, want) => {
    const bytes = encodeCbor(undefined, value);
    expect(bytes.toString('hex')).toBe(`d9d9f7${want}`);
    expect(isCbor(bytes)).toBe(true);
  });

  it('round-trips', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        // JSON has no negative zero.
        const json = JSON.stringify(value);
        expect(JSON.parse(encodeJson(parseCbor(encodeCbor(undefined, JSON.parse(json)))))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('encodes lists as pieces', () => {
    const piece = (n: number) => encodeCborListItem(undefined, { n });
    const list = { kind: 'FooList', apiVersion: 'v1', metadata: { resourceVersion: '5' } };
    const bytes = Buffer.concat(cborList(list, [Buffer.concat([piece(1), piece(2)]), piece(3)], 3));
    expect(parseCbor(bytes)).toEqual({ ...list, items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    expect(bytes.equals(encodeCbor(undefined, parseCbor(bytes)))).toBe(true);
  });
});

const thing = new SchemaRegistry(() => ({
  Thing: {
    fields: {
      kind: { type: 'string' },
      text: { type: 'string' },
      flag: { type: 'boolean', ptr: true },
      small: { type: 'integer', format: 'int32' },
      large: { type: 'integer', format: 'int64' },
      float: { type: 'number' },
      bytes: { type: 'string', format: 'byte' },
      time: { ref: 'meta_v1.Time' },
      quantity: { ref: 'resource.Quantity' },
      port: { ref: 'intstr.IntOrString' },
      raw: { ref: 'runtime.RawExtension' },
      list: { type: 'array', items: { type: 'string' } },
      labels: { map: { type: 'string' } },
      inner: { ref: 'Thing' },
    },
  },
})).struct('test_v1.Thing');

describe('decodeCbor', () => {
  const decoded = (value: unknown) => atOnce(decodeCbor<object>(thing, encodeCbor(undefined, value)));

  it.each<readonly [string, object]>([
    ['a1 4474657874 6161', { text: 'a' }],
    ['a1 4474657874 d64161', { text: 'YQ==' }],
    ['a1 44666c6167 f7', {}],
    ['a1 4474696d65 f7', {}],
    ['a1 45666c6f6174 02', { float: 2 }],
    ['a1 456279746573 4461476b3d', { bytes: 'aGk=' }],
    ['a1 456279746573 d6426869', { bytes: 'aGk=' }],
    ['a1 456279746573 d5426869', { bytes: 'aGk=' }],
    ['a1 456279746573 8218681869', { bytes: 'aGk=' }],
    ['a1 456279746573 9f1868f6ff', { bytes: 'aAA=' }],
    ['a1 4474696d65 c074323031332d30332d32315432303a30343a30305a', { time: '2013-03-21T20:04:00Z' }],
    ['a1 487175616e74697479 45302e35306d', { quantity: '500u' }],
    ['a1 44706f7274 1850', { port: 80 }],
    ['a1 44706f7274 4468747470', { port: 'http' }],
    ['a1 43726177 a2 416202 4161 d6426869', { raw: { a: 'aGk=', b: 2 } }],
    ['a1 466c6162656c73 a14161f6', { labels: { a: '' } }],
    ['f6', {}],
  ])('%s becomes %j', (bytes, want) => {
    expect(atOnce(decodeCbor(thing, hex(bytes)))).toEqual({ object: want, strictError: undefined });
  });

  it.each<readonly [string, unknown, string]>([
    ['a list', [], 'array into Go value of type v1.Thing (cannot decode CBOR array to struct without toarray option)'],
    ['a text', 'a', 'byte string into Go value of type v1.Thing'],
    ['a number for a string', { text: 5 }, 'positive integer into Go struct field v1.Thing.text of type string'],
    ['a deeply nested number', { inner: { inner: { text: -5 } } }, 'negative integer into Go struct field v1.Thing.inner of type string'],
    ['a string for a boolean', { flag: 'x' }, 'byte string into Go struct field v1.Thing.flag of type bool'],
    ['a boolean for a number', { small: true }, 'primitives into Go struct field v1.Thing.small of type int32'],
    ['a fraction', { large: 1.5 }, 'primitives into Go struct field v1.Thing.large of type int64'],
    [
      'a number of more than 32 bits',
      { small: 3_000_000_000 },
      'positive integer into Go struct field v1.Thing.small of type int32 (3000000000 overflows int32)',
    ],
    ['a string for a float', { float: '1' }, 'byte string into Go struct field v1.Thing.float of type float64'],
    ['a number for a time', { time: 5 }, 'positive integer into Go struct field v1.Thing.time of type string'],
    ['a number for a quantity', { quantity: 5 }, 'positive integer into Go struct field v1.Thing.quantity of type string'],
    ['a boolean for a port', { port: true }, 'primitives into Go struct field v1.Thing.port of type int32'],
    ['a map for a list', { list: {} }, 'map into Go struct field v1.Thing.list of type []string'],
    ['a number in a list', { list: ['a', 1] }, 'positive integer into Go struct field v1.Thing.list of type string'],
    ['a list for a map', { labels: [] }, 'array into Go struct field v1.Thing.labels of type map[string]string'],
    [
      'a byte that is too large',
      { bytes: [256] },
      'positive integer into Go struct field v1.Thing.bytes of type uint8 (256 overflows uint8)',
    ],
    ['a string in bytes', { bytes: ['a'] }, 'byte string into Go struct field v1.Thing.bytes of type uint8'],
  ])('rejects %s', (_, value, message) => {
    expect(() => decoded(value)).toThrow(expect.objectContaining({ name: 'DecodeError', message: `cbor: cannot unmarshal ${message}` }));
  });

  it.each<readonly [string, string]>([
    ['a1 456279746573 416 1', 'cbor: failed to decode base64 from byte string: illegal base64 data at input byte 0'],
    ['a1 456279746573 6461476b3d', 'cbor: cannot unmarshal UTF-8 text string into Go struct field v1.Thing.bytes of type []uint8'],
    ['a2 447465787440 447465787440', 'cbor: found duplicate map key "text" at map element index 1'],
    ['a2 417801 417801', 'cbor: found duplicate map key "x" at map element index 1'],
    ['a2 0501 0501', 'cbor: found duplicate map key 5 at map element index 1'],
    ['a1 466c6162656c73 a241614041614 0', 'cbor: found duplicate map key "a" at map element index 1'],
    [
      'a1 f501',
      'cbor: cannot unmarshal primitives into Go value of type string (map key is of type primitives and cannot be used to match struct field name)',
    ],
    [
      'a1 45696e6e6572 a1 f501',
      'cbor: cannot unmarshal primitives into Go struct field v1.Thing.inner of type string (map key is of type primitives and cannot be used to match struct field name)',
    ],
    [
      'a1 43726177 a2416101416102',
      'failed to transcode RawExtension to JSON: failed to parse RawExtension bytes as CBOR: cbor: found duplicate map key "a" at map element index 1',
    ],
    ['a2 43726177 f6 4474657874 05', 'cbor: cannot unmarshal positive integer into Go struct field v1.Thing.text of type string'],
    ['a2 43726177 a0 4474657874 05', 'cbor: cannot unmarshal positive integer into Go struct field v1.Thing.text of type string'],
    ['a2 43726177 818101 4474657874 05', 'cbor: cannot unmarshal positive integer into Go struct field v1.Thing.text of type string'],
    ['a1 4474696d65 4178', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  ])('rejects %s', (bytes, message) => {
    expect(() => atOnce(decodeCbor(thing, hex(bytes)))).toThrow(expect.objectContaining({ name: 'DecodeError', message }));
  });

  it.each<readonly [string, object, number]>([
    ['a field', { text: 'a', foo: 1 }, 0],
    ['a field after others', { aaaaa: 1, text: 'a' }, 1],
    ['a nested field', { inner: { text: 'a', zzzz: 1 } }, 1],
    ['a nested field, and one outside of it', { inner: { abcdefg: 1 }, toolong: 2 }, 1],
  ])('reports the unknown field %s', (_, value, index) => {
    const { object, strictError } = decoded(value);
    expect(strictError).toBe(`cbor: found unknown field at map element index ${index}`);
    expect(Object.keys(object).every((key) => thing.fields.has(key))).toBe(true);
  });

  it('sorts the keys of raw maps, as Go does', () => {
    const { object } = atOnce(decodeCbor<object>(thing, hex('a1 43726177 a2 4162 a24163 01 4161 02 4161 f5')));
    expect(encodeRawJson(object)).toBe('{"raw":{"a":true,"b":{"a":2,"c":1}}}');
  });

  it('encodes bytes as byte strings', () => {
    const bytes = encodeCbor(thing, { bytes: 'aGk=', text: 'aGk=', float: 1, small: 1 });
    expect(diagnoseCbor(bytes)).toBe("55799({'text': 'aGk=', 'bytes': 22('hi'), 'float': 1.0, 'small': 1})");
  });
});

describe('cborKind', () => {
  it.each<readonly [string, object]>([
    ['a2 446b696e64 4141 4a61706956657273696f6e 427631', { kind: 'A', apiVersion: 'v1' }],
    ['a2 446b696e64 f6 4161 9f8001ff', { kind: '', apiVersion: '' }],
    ['f6', { kind: '', apiVersion: '' }],
  ])('the kind of %s is %j', (bytes, want) => {
    expect(atOnce(cborKind(hex(bytes)))).toEqual(want);
  });

  it.each<readonly [string, string]>([
    ['05', 'cbor: cannot unmarshal positive integer into Go value of type v1.TypeMeta'],
    ['a1446b696e6405', 'cbor: cannot unmarshal positive integer into Go struct field v1.TypeMeta.kind of type string'],
    ['a2416101416102', 'cbor: found duplicate map key "a" at map element index 1'],
  ])('the kind of %s: %s', (bytes, message) => {
    expect(() => atOnce(cborKind(hex(bytes)))).toThrow(message);
  });
});

describe('diagnoseCbor', () => {
  it.each<readonly [string, string]>([
    ['d9d9f7a0', '55799({})'],
    ['a2 4161 45ff00616263 436262 62 d6426869', `{'a': h'ff00616263', 'bbb': 22('hi')}`],
    ['8501f93e0022f5f6', '[1, 1.5, -3, true, null]'],
    ['bf 6161 5f416141ffff 6162 9f0102ff ff', `{_ "a": (_ 'a', h'ff'), "b": [_ 1, 2]}`],
    ['835fff7fff40', `[''_, ""_, h'']`],
    ['816e6974277320220a5cc3bcf09f9880', String.raw`["it's \"\n\\\u00fc\ud83d\ude00"]`],
    ['82f7f8ff', '[undefined, simple(255)]'],
    ['84fb3e7ad7f29abcaf48f97bfff98000fb7e37e43c8800759c', '[1.0e-7, 65504.0, -0.0, 1.0e+300]'],
    ['823bffffffffffffffff1bffffffffffffffff', '[-18446744073709551616, 18446744073709551615]'],
  ])('%s becomes %s', (bytes, want) => {
    expect(diagnoseCbor(hex(bytes))).toBe(want);
  });
});
