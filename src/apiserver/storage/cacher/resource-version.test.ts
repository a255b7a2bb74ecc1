import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { parseResourceVersion, spliceResourceVersion } from './resource-version.ts';

describe('parseResourceVersion', () => {
  it.each([
    ['', 0],
    ['0', 0],
    ['1', 1],
    ['0012', 12],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%j is %d', (text, revision) => {
    expect(parseResourceVersion(text)).toBe(revision);
  });

  it.each([
    ['abc', 'strconv.ParseUint: parsing "abc": invalid syntax'],
    ['-5', 'strconv.ParseUint: parsing "-5": invalid syntax'],
    ['1.0', 'strconv.ParseUint: parsing "1.0": invalid syntax'],
    [' 1', 'strconv.ParseUint: parsing " 1": invalid syntax'],
    ['18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  ])('rejects %j', (text, message) => {
    expect(() => parseResourceVersion(text)).toThrow(new Error(`resourceVersion: Invalid value: "${text}": ${message}`));
  });
});

describe('spliceResourceVersion', () => {
  const rows: readonly (readonly [name: string, before: string, after: string])[] = [
    [
      'a typed object',
      '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"9"},"spec":{}}\n',
      '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"1234"},"spec":{}}\n',
    ],
    [
      'similar fields before it',
      '{"data":{"metadata":{"resourceVersion":"9"},"resourceVersion":"9"},"metadata":{"annotations":{"resourceVersion":"9"},"resourceVersion":"9"}}',
      '{"data":{"metadata":{"resourceVersion":"9"},"resourceVersion":"9"},"metadata":{"annotations":{"resourceVersion":"9"},"resourceVersion":"1234"}}',
    ],
    [
      'similar strings',
      '{"a":"\\"metadata\\":{\\"resourceVersion\\":\\"9\\"}","b":"{\\\\","metadata":{"l":["resourceVersion","metadata"],"resourceVersion":"9"}}',
      '{"a":"\\"metadata\\":{\\"resourceVersion\\":\\"9\\"}","b":"{\\\\","metadata":{"l":["resourceVersion","metadata"],"resourceVersion":"1234"}}',
    ],
    [
      "a value equal to the field's name",
      '{"x":"metadata","metadata":{"name":"resourceVersion","resourceVersion":"9"}}',
      '{"x":"metadata","metadata":{"name":"resourceVersion","resourceVersion":"1234"}}',
    ],
    [
      'non-ASCII bytes',
      '{"metadata":{"a":"é😀","resourceVersion":"9","z":"é"}}',
      '{"metadata":{"a":"é😀","resourceVersion":"1234","z":"é"}}',
    ],
  ];
  it.each(rows)('changes only metadata.resourceVersion: %s', (_, before, after) => {
    expect(spliceResourceVersion(Buffer.from(before), 1234).toString()).toBe(after);
  });

  it('throws if there is none', () => {
    expect(() => spliceResourceVersion(Buffer.from('{"metadata":{"name":"resourceVersion"},"resourceVersion":"9"}'), 1)).toThrow(
      'object has no metadata.resourceVersion',
    );
  });
});
