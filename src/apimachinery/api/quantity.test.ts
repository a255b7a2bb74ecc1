import { describe, expect, test } from 'vitest';
import {
  canonicalQuantity,
  Quantity,
  QuantityParseError,
  quantityFormatError,
  quantityNumericError,
  quantitySuffixError,
} from './quantity.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

test.each([
  ['0', '0'],
  ['000', '0'],
  ['-0', '0'],
  ['1', '1'],
  ['1000', '1k'],
  ['1000m', '1'],
  ['1100m', '1100m'],
  ['1.5', '1500m'],
  ['.5', '500m'],
  ['1.', '1.'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['1023', '1023'],
  ['1024', '1024'],
  ['1e3', '1e3'],
  ['12E6', '12E6'],
  ['1500e-3', '1500e-3'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1.23456789012', '1234567891n'],
  ['9223372036854775808Ki', '9223372036854775807'],
  ['0.5Mi', '512Ki'],
  ['100000000000000000000', '100E'],
  ['+5k', '+5k'],
  [' 5 ', '5'],
  ['1e-20', '1e-9'],
])('parses %s and formats %s', (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each([
  ['', quantityFormatError],
  ['x', quantityFormatError],
  ['1.2.3', quantityFormatError],
  ['1 Gi', quantityFormatError],
  ['--1', quantitySuffixError],
  ['1x', quantityFormatError],
  ['1KiB', quantityFormatError],
  ['1iK', quantitySuffixError],
  ['1e', quantitySuffixError],
  ['1Kii', quantitySuffixError],
  ['Pi', quantityNumericError],
])('rejects %j', (text, message) => {
  expect(() => canonicalQuantity(text)).toThrow(new QuantityParseError(message));
});

describe('arithmetic', () => {
  const quantity = (text: string): Quantity => Quantity.parse(text);

  test('compares across formats', () => {
    expect(quantity('1Gi').compare(quantity('1G'))).toBeGreaterThan(0);
    expect(quantity('1000m').equals(quantity('1'))).toBe(true);
    expect(quantity('-1').compare(quantity('0'))).toBeLessThan(0);
  });

  test('a sum keeps the format of the non-zero operand', () => {
    expect(quantity('1Gi').add(quantity('1Gi')).toString()).toBe('2Gi');
    expect(quantity('0').add(quantity('1Gi')).toString()).toBe('1Gi');
    expect(quantity('1').sub(quantity('1500m')).toString()).toBe('-500m');
  });

  test('rounds values away from zero', () => {
    expect([quantity('1100m').value(), quantity('-1100m').value(), quantity('1u').milliValue(), quantity('2Ki').value()]).toEqual([
      2n,
      -2n,
      1n,
      2048n,
    ]);
  });
});

const many = 300_000;
test.each<[name: string, text: string, canonical: string | undefined]>([
  ['nines', '9'.repeat(many), '9'.repeat(many)],
  ['zeros after a one', `1${'0'.repeat(18)}${'000'.repeat(many)}`, '1'],
  ['digits with a fraction below a nano', `${'9'.repeat(2_000)}.${'9'.repeat(10)}`, '100'],
  ['digits with a fraction of a milli', `${'1'.repeat(2_000)}.5`, `${'1'.repeat(2_000)}500m`],
  ['digits of a binary quantity', `${'9'.repeat(many)}Ki`, '9223372036854775807'],
  ['zeros after a point', `0.${'0'.repeat(many)}1`, '1n'],
  ['an exponent with many zeros', `1000e${'0'.repeat(many)}3`, '1e6'],
  ['an exponent with many digits', `1e${'1'.repeat(many)}`, undefined],
  ['digits and an invalid character', `${'1'.repeat(many)}!`, undefined],
  ['zeros and an invalid character', `${'0'.repeat(many)}!`, undefined],
  ['a long suffix', `1${'n'.repeat(many)}`, undefined],
])('parses many %s in linear time', (_, text, canonical) => {
  const began = threadMilliseconds();
  if (canonical === undefined) expect(() => canonicalQuantity(text)).toThrow(QuantityParseError);
  else expect(canonicalQuantity(text)).toBe(canonical);
  // Quadratic time would be minutes.
  expect(threadMilliseconds() - began).toBeLessThan(1_000);
});
