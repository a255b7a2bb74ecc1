import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareUtf8,
  DecodeError,
  encodeJson,
  encodeRawJson,
  encodeString,
  parseEncoded,
  parseJson,
  parseJsonSteps,
  remarshaled,
} from './json.ts';
import { leastThreadTime } from '../../testing/least-thread-time.ts';
import { isInt64, isNumber } from '../numbers.ts';
import { atOnce } from '../steps.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

describe.each([
  ['parseJson', parseJson],
  ['parseJsonSteps, cut at every possible position', (bytes: Buffer) => atOnce(parseJsonSteps(bytes, 1))],
])('%s', (_name, read) => {
  const parse = (text: string) => read(Buffer.from(text));

  const values: [name: string, text: string, value: unknown][] = [
    ['nested', '{"a":[1,{"b":null}],"c":true}', { a: [1, { b: null }], c: true }],
    ['safe integers are numbers', '[9007199254740991,-9007199254740991]', [9007199254740991, -9007199254740991]],
    ['other int64 are bigints', '[9007199254740993,-9223372036854775808]', [9007199254740993n, -9223372036854775808n]],
    ['beyond int64 are doubles', '[10000000000000000000]', [1e19]],
    [
      'a bigint under __proto__',
      '{"__proto__":9007199254740993}',
      JSON.parse('{"__proto__":0}', (key, value: unknown) => (key === '__proto__' ? 9007199254740993n : value)),
    ],
    ['lone surrogates', '["\\ud800x","\\ud83d\\ude00"]', ['\ufffdx', '😀']],
    [
      'containers that continue after others',
      '[[1,[2,[3],4],5],{"a":{"b":[6,7],"c":8},"a2":[[],{}],"d":9},[10]]',
      [[1, [2, [3], 4], 5], { a: { b: [6, 7], c: 8 }, a2: [[], {}], d: 9 }, [10]],
    ],
    ['the last of two values', '{"a":{"x":[1,2]},"b":[1,2],"a":{"y":1,"z":[3,4]},"b":0}', { a: { y: 1, z: [3, 4] }, b: 0 }],
    ['the last of two malformed keys', '{"\\ud800":{"a":1,"b":2},"\\ud801":{"c":3,"d":4}}', { '\ufffd': { c: 3, d: 4 } }],
    [
      'an own __proto__ that continues',
      '{"__proto__":{"a":1,"__proto__":[2,3]},"b":4}',
      JSON.parse('{"__proto__":{"a":1,"__proto__":[2,3]},"b":4}'),
    ],
    ['a string beside a bigint', '{"é":9007199254740993,"b":"é"}', { é: 9007199254740993n, b: 'é' }],
  ];
  test.each(values)('%s', (_name, text, value) => {
    expect(parse(text).value).toEqual(value);
  });

  test('replaces invalid UTF-8 by the replacement character', () => {
    expect(read(Buffer.from([0x22, 0xff, 0x22])).value).toBe('\ufffd');
  });

  const many = Array.from({ length: 40 }, (_, i) => `"k${i}":1`).join(',');
  const duplicates: [name: string, text: string, paths: string[]][] = [
    ['none', '{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}', []],
    ['at the root', '{"a":1,"b":2,"a":3,"a":4}', ['a']],
    ['deep', '{"spec":{"containers":[{"name":"a"},{"name":"b","name":"c"}]}}', ['spec.containers[1].name']],
    ['in nested lists', '[[0,{"a":1,"a":2}]]', ['[0][1].a']],
    ['written with an escape', '{"a":1,"\\u0061":2}', ['a']],
    ['not ASCII', '{"é":1,"\\u00e9":2}', ['é']],
    ['the same length, ends and middle', '{"abxcd":1,"aybxcd":1,"aaxbd":1,"acxad":1}', []],
    ['among many', `{"m":{${many},"k7":2},"k7":1}`, ['m.k7']],
    ['values that look like keys', '{"a":"b","c":"a"}', []],
    ['empty keys', '{"":1,"":2}', ['']],
  ];
  test.each(duplicates)('reports duplicate fields: %s', (_name, text, paths) => {
    expect(parse(text).duplicateFields).toEqual(paths);
  });

  // As in Go: int64 or float64.
  const numbers: [literal: string, type: 'int64' | 'float64', marshaled: string][] = [
    ['1', 'int64', '1'],
    ['-0', 'int64', '0'],
    ['9007199254740993', 'int64', '9007199254740993'],
    ['-9223372036854775808', 'int64', '-9223372036854775808'],
    ['1.0', 'float64', '1'],
    ['-0.0', 'float64', '0'],
    ['1e3', 'float64', '1000'],
    ['1.50', 'float64', '1.5'],
    ['0.5', 'float64', '0.5'],
    ['1e21', 'float64', '1e+21'],
    ['9223372036854775808', 'float64', '9223372036854776000'],
  ];
  test.each(numbers)('the number %s is an %s', (literal, type, marshaled) => {
    const { value } = parse(`{"a":[${literal}]}`);
    const [number] = (value as { a: unknown[] }).a;
    expect(isNumber(number)).toBe(true);
    expect(isInt64(number)).toBe(type === 'int64');
    expect(encodeJson(value)).toBe(`{"a":[${marshaled}]}`);
    if (type === 'float64' || literal !== '-0') expect(encodeRawJson(value)).toBe(`{"a":[${literal}]}`);
    expect(isInt64(remarshaled(number))).toBe(type === 'int64' || ['1.0', '-0.0', '1e3'].includes(literal));
  });

  // Messages of Go's scanner, verified against it.
  const errors: [text: string, message: string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['"a', 'unexpected end of JSON input'],
    ['"\\u12', "invalid character ' ' in \\u hexadecimal character escape"],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{a}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 1}', "invalid character '1' after object key:value pair"],
    ['[1 1]', "invalid character '1' after array element"],
    ['1 1', "invalid character '1' after top-level value"],
    ['012345678901234567', "invalid character '1' after top-level value"],
    ['{1.0:2}', "invalid character '1' looking for beginning of object key string"],
    ['{9007199254740993:2}', "invalid character '9' looking for beginning of object key string"],
    ['[1.0.0]', "invalid character '.' after array element"],
    ['[01.0]', "invalid character '1' after array element"],
    ['nothing', "invalid character 'o' in literal null (expecting 'u')"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e', "invalid character ' ' in exponent of numeric literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['\u00e9', "invalid character 'Ã' looking for beginning of value"],
    [`${'['.repeat(10_001)}`, "invalid character '[' exceeded max depth"],
  ];
  test.each(errors)('rejects %.20s', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'JsonSyntaxError', message }));
  });

  test('rejects a number that overflows a double', () => {
    expect(() => parse('{"a":1e400}')).toThrow(new DecodeError('json: cannot unmarshal number 1e400 into Go value of type float64'));
  });
});

test('parses hostile bodies in linear time', () => {
  const deep = '['.repeat(9000);
  const body = Buffer.from(`${deep}{${'"a":1,'.repeat(100_000)}"a":1.5}${']'.repeat(9000)}`);
  expect(parseJson(body).duplicateFields).toHaveLength(1);
  expect(leastThreadTime(() => parseJson(body), 1_500)).toBeLessThan(1_500);
});

test('chunked parsing has the same result', () => {
  const tokens = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b":',
    '"a":[1,',
    '"a":{"b":',
    '1',
    '1.5',
    '9007199254740993',
    '"\\ud800"',
    ' ',
    '\n',
    'null',
    '"é":',
  );
  const texts = fc.oneof(
    fc.json(),
    fc.array(tokens, { maxLength: 40 }).map((all) => all.join('')),
  );
  const outcome = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (error) {
      return { name: (error as Error).name, message: (error as Error).message };
    }
  };
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, partBytes) => {
      const bytes = Buffer.from(text);
      expect(outcome(() => atOnce(parseJsonSteps(bytes, partBytes)))).toStrictEqual(outcome(() => parseJson(bytes)));
    }),
    { numRuns: 2_000 },
  );
});

describe('parseEncoded', () => {
  test('reads encoded text like parseJson, with long numbers anywhere', () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,17}$/);
    const value = fc.array(fc.oneof(digits.map(BigInt), digits, fc.string({ maxLength: 20 })), { maxLength: 6 });
    fc.assert(
      fc.property(value, (list) => {
        const bytes = Buffer.from(encodeJson(list));
        expect(parseEncoded(bytes)).toEqual(parseJson(bytes).value);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(Array.from({ length: 20 }, (_, at) => at))('reads a 16-digit number after %i characters', (at) => {
    const text = `{"a":"${'x'.repeat(at)}","b":9007199254740993,"c":1}`;
    expect(parseEncoded(Buffer.from(text))).toEqual({ a: 'x'.repeat(at), b: 9007199254740993n, c: 1 });
  });
});

describe('encodeString', () => {
  test.each([
    ['plain', '"plain"'],
    ['<a href="x">&\\', '"\\u003ca href=\\"x\\"\\u003e\\u0026\\\\"'],
    ['\b\f\n\r\t\u0001\u007f', '"\\b\\f\\n\\r\\t\\u0001\u007f"'],
    ['\u2028\u2029', '"\\u2028\\u2029"'],
    ['é😀\ufffd', '"é😀\ufffd"'],
    ['a\ud800<', '"a\\ufffd\\u003c"'],
  ])('%j', (text, json) => {
    expect(encodeString(text)).toBe(json);
  });
});

describe('encodeJson', () => {
  test.each<[name: string, value: unknown, json: string]>([
    ['keys by UTF-8 bytes', { '😀': 1, '\uffee': 2, b: 3, 10: 4, 9: 5 }, '{"10":4,"9":5,"b":3,"\uffee":2,"😀":1}'],
    ['numbers', [1e21, 1e20, 1e-7, 1.5, 9007199254740993n], '[1e+21,100000000000000000000,1e-7,1.5,9007199254740993]'],
    ['empty', { a: {}, b: [], c: undefined }, '{"a":{},"b":[]}'],
    ['own __proto__', JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])('%s', (_name, value, json) => {
    expect(encodeJson(value)).toBe(json);
  });

  test('encodes any depth', () => {
    const text = `${'{"a":['.repeat(4000)}${']}'.repeat(4000)}`;
    expect(encodeJson(parse(text).value)).toBe(text);
  });

  test('encodeRawJson keeps the order', () => {
    expect(encodeRawJson({ b: 1, a: '<' })).toBe('{"b":1,"a":"\\u003c"}');
  });
});

test('compareUtf8 orders by code points', () => {
  const sorted = ['', 'a', 'ab', 'b', 'é', '\uffee', '😀'];
  expect([...sorted].reverse().sort(compareUtf8)).toEqual(sorted);
});
