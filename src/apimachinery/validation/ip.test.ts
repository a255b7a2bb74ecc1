import { describe, expect, test } from 'vitest';
import { aggregate, fieldPath } from './field.ts';
import { getWarningsForCIDR, getWarningsForIP, isValidCIDR, isValidInterfaceAddress, isValidIP, isValidIPForLegacyField } from './ip.ts';

const path = fieldPath('f');
const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const noCIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

describe('strict', () => {
  test.each([
    ['10.0.0.1', ''],
    ['::1', ''],
    ['2001:db8::1:0:0:1', ''],
    ['10.0.0.256', noAddress],
    ['1.2.3', noAddress],
    ['::1%eth0', noAddress],
    ['1::2::3', noAddress],
    ['010.0.0.1', 'must not have leading 0s'],
    ['::ffff:1.2.3.4', 'must not be an IPv4-mapped IPv6 address'],
    ['FE80::1', 'must be in canonical form ("fe80::1")'],
    ['0:0:0:0:0:0:0:1', 'must be in canonical form ("::1")'],
  ])('address %s', (value, message) => {
    expect(aggregate(isValidIP(path, value))).toBe(message && `f: Invalid value: "${value}": ${message}`);
  });

  test.each([
    ['10.0.0.0/8', ''],
    ['fe80::/10', ''],
    ['10.0.0.0', noCIDR],
    ['10.0.0.0/33', noCIDR],
    ['10.0.0.1/8', 'must not have bits set beyond the prefix length'],
    ['10.0.0.0/08', 'must not have leading 0s in IP or prefix length'],
    ['::ffff:1.2.3.4/128', 'must not have an IPv4-mapped IPv6 address'],
    ['FE80::/10', 'must be in canonical form ("fe80::/10")'],
  ])('CIDR %s', (value, message) => {
    expect(aggregate(isValidCIDR(path, value))).toBe(message && `f: Invalid value: "${value}": ${message}`);
  });
});

test('older fields accept more forms', () => {
  expect(isValidIPForLegacyField(path, '010.0.0.1', false)).toEqual([]);
  expect(isValidIPForLegacyField(path, '010.0.0.1', true)).toHaveLength(1);
  expect(isValidIPForLegacyField(path, 'x', true, new Set(['x']))).toEqual([]);
  expect(isValidInterfaceAddress(path, '192.168.1.5/24')).toEqual([]);
});

test('warnings', () => {
  expect(getWarningsForIP(path, '010.0.0.1')).toEqual(['f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']);
  expect(getWarningsForIP(path, 'FE80::1')).toEqual(['f: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")']);
  expect(getWarningsForIP(path, '10.0.0.1')).toEqual([]);
  expect(getWarningsForCIDR(path, '10.0.0.1/8')).toEqual([
    'f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ]);
});
