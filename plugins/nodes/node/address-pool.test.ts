import { expect, it } from 'vitest';
import { AddressPool, nodeAddress, podCidr } from './address-pool.ts';

it('gives each node an address and a network', () => {
  expect([nodeAddress(0), nodeAddress(300), podCidr(0), podCidr(64)]).toEqual([
    '172.20.0.2',
    '172.20.1.46',
    '10.192.0.0/22',
    '10.193.0.0/22',
  ]);
});

it('gives a pod the same address each time, and another pod another one', () => {
  const pool = new AddressPool('10.1.0.0/22');
  expect([pool.addressOf('a'), pool.addressOf('b'), pool.addressOf('a')]).toEqual(['10.1.0.2', '10.1.0.3', '10.1.0.2']);
});

it('does not give an adopted address, and uses a released one last', () => {
  const pool = new AddressPool('10.1.0.0/29');
  pool.adopt('a', '10.1.0.2');
  expect([pool.addressOf('b'), pool.addressOf('a')]).toEqual(['10.1.0.3', '10.1.0.2']);
  pool.release('b');
  expect([pool.addressOf('c'), pool.addressOf('d'), pool.addressOf('e'), pool.addressOf('f')]).toEqual([
    '10.1.0.4',
    '10.1.0.5',
    '10.1.0.6',
    '10.1.0.3',
  ]);
  expect(() => pool.addressOf('g')).toThrow('no free address in 10.1.0.0');
});

it('ignores addresses of other networks', () => {
  const pool = new AddressPool('10.1.0.0/29');
  pool.adopt('a', '10.2.0.2');
  pool.adopt('b', 'fd00::1');
  expect(pool.addressOf('a')).toBe('10.1.0.2');
});

it.each(['fd00::/64', '10.1.0.0', '10.1.0.0/31', 'x'])('rejects the network %s', (cidr) => {
  expect(() => new AddressPool(cidr)).toThrow('is not an IPv4 network for pods');
});
