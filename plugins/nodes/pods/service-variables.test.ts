import { expect, it } from 'vitest';
import type { Service } from 'kubenest/types/core_v1';
import { variablesOf } from './service-variables.ts';

const service = (name: string, spec: NonNullable<Service['spec']>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec,
});

it('gives the addresses of a service under its name and under the names of its ports', () => {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'dns-udp', port: 53, protocol: 'UDP' },
  ];
  expect(variablesOf([service('my-db', { clusterIP: '10.0.0.7', ports })])).toEqual({
    MY_DB_SERVICE_HOST: '10.0.0.7',
    MY_DB_SERVICE_PORT: '80',
    MY_DB_SERVICE_PORT_HTTP: '80',
    MY_DB_SERVICE_PORT_DNS_UDP: '53',
    MY_DB_PORT: 'tcp://10.0.0.7:80',
    MY_DB_PORT_80_TCP: 'tcp://10.0.0.7:80',
    MY_DB_PORT_80_TCP_PROTO: 'tcp',
    MY_DB_PORT_80_TCP_PORT: '80',
    MY_DB_PORT_80_TCP_ADDR: '10.0.0.7',
    MY_DB_PORT_53_UDP: 'udp://10.0.0.7:53',
    MY_DB_PORT_53_UDP_PROTO: 'udp',
    MY_DB_PORT_53_UDP_PORT: '53',
    MY_DB_PORT_53_UDP_ADDR: '10.0.0.7',
  });
});

it('puts an IPv6 address in brackets where a port follows', () => {
  const found = variablesOf([service('six', { clusterIP: 'fd00::1', ports: [{ port: 1 }] })]);
  expect(found).toMatchObject({ SIX_SERVICE_HOST: 'fd00::1', SIX_PORT: 'tcp://[fd00::1]:1', SIX_PORT_1_TCP_ADDR: 'fd00::1' });
});

it('leaves out services without an address', () => {
  const ports = [{ port: 1 }];
  expect(variablesOf([service('headless', { clusterIP: 'None', ports }), service('external', { type: 'ExternalName', ports })])).toEqual(
    {},
  );
});
