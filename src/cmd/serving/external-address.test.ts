import { expect, it } from 'vitest';
import { externalAddress, serverAddresses } from './external-address.ts';

const serviceClusterIpRange = '10.0.0.0/24,fd00::/112';
const bound = { address: '192.0.2.2', port: 6443 };

it.each([
  { config: {}, want: '192.0.2.2:6443' },
  { config: { controlPlane: { advertiseAddress: '198.51.100.7' } }, want: '198.51.100.7:6443' },
  { config: { controlPlane: { advertiseAddress: '2001:db8::1' } }, want: '[2001:db8::1]:6443' },
  { config: { externalHostname: 'api.example', controlPlane: { advertiseAddress: '198.51.100.7' } }, want: 'api.example:6443' },
  { config: { externalHostname: 'api.example:443' }, want: 'api.example:443' },
])('clients reach the server at $want', ({ config, want }) => {
  expect(externalAddress({ serviceClusterIpRange, ...config }, bound)).toBe(want);
});

const own = { clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.2:6443' };
const service = { clientCIDR: '10.0.0.0/24', serverAddress: '10.0.0.1:443' };

it.each([
  { client: undefined, want: [own] },
  { client: '127.0.0.1', want: [own] },
  { client: '10.0.0.0', want: [own, service] },
  { client: '10.0.0.255', want: [own, service] },
  { client: '10.0.1.0', want: [own] },
  { client: 'fd00::5', want: [own] },
])('discovery for $client', ({ client, want }) => {
  expect(serverAddresses({ serviceClusterIpRange }, bound, client)).toEqual(want);
});
