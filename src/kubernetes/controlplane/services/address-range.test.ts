import { describe, expect, test } from 'vitest';
import { AddressRange, familyOf, formatAddress, parseAddress } from './address-range.ts';

describe('AddressRange', () => {
  test.each([
    { cidr: '10.0.0.0/24', first: '10.0.0.1', upper: '10.0.0.17', last: '10.0.0.254' },
    { cidr: '10.0.0.77/24', first: '10.0.0.1', upper: '10.0.0.17', last: '10.0.0.254' },
    { cidr: '10.0.0.0/28', first: '10.0.0.1', upper: '10.0.0.1', last: '10.0.0.14' },
    { cidr: '10.0.0.0/12', first: '10.0.0.1', upper: '10.0.1.1', last: '10.15.255.254' },
    { cidr: 'fd00::/108', first: 'fd00::1', upper: 'fd00::101', last: 'fd00::f:ffff' },
    { cidr: 'fd00::/64', first: 'fd00::1', upper: 'fd00::101', last: 'fd00::ffff:ffff:ffff:ffff' },
  ])('$cidr', ({ cidr, first, upper, last }) => {
    const range = AddressRange.parse(cidr);
    expect([range?.format(range.first), range?.format(range.upper), range?.format(range.last)]).toEqual([first, upper, last]);
  });

  test.each(['10.0.0.0', 'x/24', 'fd00::/56', ''])('rejects %j', (cidr) => {
    expect(AddressRange.parse(cidr)).toBeUndefined();
  });

  test.each([
    { ip: '10.0.0.0', contains: false, why: 'the network address' },
    { ip: '10.0.0.1', contains: true, why: 'the first' },
    { ip: '10.0.0.7', contains: false, why: 'the broadcast address' },
    { ip: '10.0.0.8', contains: false, why: 'beyond' },
    { ip: '::ffff:10.0.0.3', contains: true, why: 'IPv4 in IPv6 clothes' },
    { ip: 'fd00::1', contains: false, why: 'the other family' },
  ])('contains $ip, $why: $contains', ({ ip, contains }) => {
    const { family, address } = parseAddress(ip) as NonNullable<ReturnType<typeof parseAddress>>;
    expect(AddressRange.parse('10.0.0.0/29')?.contains(family, address)).toBe(contains);
  });

  test.each([0, 0.3, 0.999])('yields each address once, the upper band first (random %d)', (random) => {
    const range = AddressRange.parse('10.0.0.0/26') as AddressRange;
    const all = [...range.candidates(() => random)];
    expect(new Set(all).size).toBe(62);
    expect(all.slice(0, 46).every((address) => address >= range.upper && address <= range.last)).toBe(true);
    expect(all.slice(46).every((address) => address >= range.first && address < range.upper)).toBe(true);
  });

  test('yields no candidates for a range without hosts', () => {
    expect([...(AddressRange.parse('10.0.0.0/31') as AddressRange).candidates()]).toEqual([]);
    expect([...(AddressRange.parse('10.0.0.0/32') as AddressRange).candidates()]).toEqual([]);
  });
});

test('formats addresses as they were written', () => {
  for (const ip of ['10.0.0.1', '255.255.255.255', 'fd00::1', '::', '2001:db8::ff00:42:8329']) {
    const { family, address } = parseAddress(ip) as NonNullable<ReturnType<typeof parseAddress>>;
    expect(formatAddress(family, address)).toBe(ip);
    expect(familyOf(ip)).toBe(family);
  }
  expect(familyOf('None')).toBeUndefined();
});
