import { describe, expect, test } from 'vitest';
import { mergeAuthenticationInfo } from './cluster-authentication-info.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
/** CA certificates that are valid for a century; their keys were not kept. */
const one = `-----BEGIN CERTIFICATE-----
MIIBcjCCARmgAwIBAgIUBeGVBqkxds65G4W8TvtRJ/bJaaQwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyMTEyMzQ0NFoYDzIxMjYxMDI4MTIzNDQ0
WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATp2/gU
rb4LmelAlNvoSNdsPGud/wTEuqxQEu7h9HYypPBfOZjjHGsO5BEPFYe0maDD+p0d
s0A0/R5OKmgGN66ho1MwUTAdBgNVHQ4EFgQUSic0GekWeuQYTMmMIWv9wxhcCBAw
HwYDVR0jBBgwFoAUSic0GekWeuQYTMmMIWv9wxhcCBAwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNHADBEAiBDzhqsLjjfGwTsEuiwO9vFdbBc4otPiKYuf9iP
VUk66QIgI6mfoGs+jVErEoAaUWFkIRef8JI/JabFZXNqqY39jmQ=
-----END CERTIFICATE-----
`;
const two = `-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgIUPxXHVvbKcyqG5vnY4BJgyG4Ff50wCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDdHdvMCAXDTI2MTEyMTEyMzQ0NFoYDzIxMjYxMDI4MTIzNDQ0
WjAOMQwwCgYDVQQDDAN0d28wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT563R/
rAodq2FkfQWOpg4uMv2U6ckVTrXeFb5m+Q+g2yhzfLVolPwSXAidanxMUx8vMJTV
OSEakf3/MKiH4z89o1MwUTAdBgNVHQ4EFgQURJMyPWs/ZHfKJFmeZ+AaWUB2Kzsw
HwYDVR0jBBgwFoAURJMyPWs/ZHfKJFmeZ+AaWUB2KzswDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNIADBFAiEA6J0jCSp3OcSCVClDr0cxjRw2s6RbtvJXofWU
Q20HmlsCIDO3YcbhpKjJgfPQLlvaMvUVjaR2kF0+8L5cNwYl0bFX
-----END CERTIFICATE-----
`;
const requestHeader = {
  clientCa: one,
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: [],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
  allowedNames: ['proxy'],
};
const own = {
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  'requestheader-client-ca-file': one,
  'requestheader-allowed-names': '["proxy"]',
};

describe('mergeAuthenticationInfo', () => {
  test.each([
    { name: 'without a CA', present: {}, info: { clientCa: undefined, requestHeader: undefined }, want: {} },
    { name: 'with a client CA only', present: {}, info: { clientCa: one, requestHeader: undefined }, want: { 'client-ca-file': one } },
    { name: 'proxies too', present: {}, info: { clientCa: two, requestHeader }, want: { 'client-ca-file': two, ...own } },
    {
      name: 'keeps data of another server first',
      present: { 'client-ca-file': two },
      info: { clientCa: one, requestHeader: undefined },
      want: { 'client-ca-file': two + one },
    },
    {
      name: 'drops duplicates',
      present: { 'client-ca-file': one, ...own },
      info: { clientCa: one, requestHeader },
      want: { 'client-ca-file': one, ...own },
    },
    {
      name: 'merges header names',
      present: { ...own, 'requestheader-allowed-names': '["other","proxy"]', 'requestheader-uid-headers': '["X-Remote-Uid"]' },
      info: { clientCa: undefined, requestHeader },
      want: { ...own, 'requestheader-allowed-names': '["other","proxy"]', 'requestheader-uid-headers': '["X-Remote-Uid"]' },
    },
    {
      name: 'without headers of UIDs if their gate is off',
      present: { ...own, 'requestheader-uid-headers': '["X-Remote-Uid"]' },
      info: { clientCa: undefined, requestHeader, namesUids: false },
      want: own,
    },
  ])('$name', ({ present, info, want }) => {
    expect(mergeAuthenticationInfo(present, info, now)).toEqual(want);
  });

  test('drops expired certificates', () => {
    expect(
      mergeAuthenticationInfo({ 'client-ca-file': two }, { clientCa: one, requestHeader: undefined }, Date.parse('2200-01-01T00:00:00Z')),
    ).toEqual({});
  });
});
