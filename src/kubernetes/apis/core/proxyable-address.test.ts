import { describe, expect, it } from 'vitest';
import { isGlobalUnicast, proxyableAddress } from './proxyable-address.ts';

describe('isGlobalUnicast', () => {
  it.each([
    ['10.0.0.1', true],
    ['192.168.1.1', true],
    ['8.8.8.8', true],
    ['240.0.0.1', true],
    ['fd00::1', true],
    ['2001:db8::1', true],
    ['::ffff:10.0.0.1', true],
    ['127.0.0.1', false],
    ['127.9.9.9', false],
    ['0.0.0.0', false],
    ['255.255.255.255', false],
    ['169.254.169.254', false],
    ['224.0.0.1', false],
    ['::', false],
    ['::1', false],
    ['fe80::1', false],
    ['ff02::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:169.254.169.254', false],
    ['', false],
    ['host', false],
  ])('%s: %s', (address, is) => {
    expect(isGlobalUnicast(address)).toBe(is);
  });
});

describe('proxyableAddress', () => {
  it('returns the address that was checked', async () => {
    expect(await proxyableAddress('10.1.2.3')).toBe('10.1.2.3');
  });

  it.each(['localhost', '127.0.0.1', '169.254.169.254', '::1'])('refuses %s', async (host) => {
    await expect(proxyableAddress(host)).rejects.toMatchObject({ status: { code: 400, message: 'address not allowed' } });
  });

  it('rejects a name that does not resolve', async () => {
    await expect(proxyableAddress('no-such-host.invalid')).rejects.toMatchObject({
      status: { code: 400, message: 'lookup no-such-host.invalid: no such host' },
    });
  });
});
