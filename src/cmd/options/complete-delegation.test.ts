import { Buffer } from 'node:buffer';
import { beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { readAuthenticationInfo } from './complete-delegation.ts';

const configMap = (data?: unknown) => Buffer.from(JSON.stringify({ kind: 'ConfigMap', data }));

describe('what a server publishes for extension servers', () => {
  let pem: string;
  beforeAll(async () => {
    pem = (await Authority.create('ca')).pair.cert;
  });

  it('names the authorities of clients and of front proxies, and the headers of these', () => {
    const data = {
      'client-ca-file': pem,
      'requestheader-client-ca-file': pem,
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-allowed-names': '["front-proxy"]',
    };
    expect(readAuthenticationInfo(configMap(data))).toEqual({
      clientCa: pem,
      requestHeader: {
        clientCa: pem,
        usernameHeaders: ['X-Remote-User'],
        uidHeaders: [],
        groupHeaders: ['X-Remote-Group'],
        extraHeaderPrefixes: ['X-Remote-Extra-'],
        allowedNames: ['front-proxy'],
      },
    });
  });

  it.each([{ data: undefined }, { data: {} }, { data: [] }, { data: { 'client-ca-file': '' } }])('may be nothing: $data', ({ data }) => {
    expect(readAuthenticationInfo(configMap(data))).toEqual({ clientCa: undefined, requestHeader: undefined });
  });

  it.each([
    { name: 'no certificate', data: { 'client-ca-file': 'x' } },
    { name: 'no list', data: () => ({ 'requestheader-client-ca-file': pem, 'requestheader-allowed-names': '"a"' }) },
    { name: 'no JSON', data: () => ({ 'requestheader-client-ca-file': pem, 'requestheader-allowed-names': 'a' }) },
  ])('is refused: $name', ({ data }) => {
    expect(() => readAuthenticationInfo(configMap(typeof data === 'function' ? data() : data))).toThrow(Error);
  });
});
