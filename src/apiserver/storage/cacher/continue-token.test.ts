import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const token = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('continue tokens', () => {
  it('equal those of upstream', () => {
    expect(Buffer.from(encodeContinue('/pods/default/a\0', '/pods/', 12), 'base64url').toString()).toBe(
      '{"v":"meta.k8s.io/v1","rv":12,"start":"default/a\\u0000"}',
    );
    expect(Buffer.from(encodeContinue('/pods/<&>\u2028', '/pods/', -1), 'base64url').toString()).toBe(
      '{"v":"meta.k8s.io/v1","rv":-1,"start":"\\u003c\\u0026\\u003e\\u2028"}',
    );
  });

  it.each(['default/a\0', 'a', 'é😀\0', '<b>'])('%j round-trips', (start) => {
    expect(decodeContinue(encodeContinue(`/pods/${start}`, '/pods/', 7), '/pods/')).toEqual({ from: `/pods/${start}`, revision: 7 });
  });

  it('cannot be built for keys outside of the prefix', () => {
    expect(() => encodeContinue('/secrets/a', '/pods/', 1)).toThrow('the key and key prefix do not match');
  });

  // The first seven messages were recorded from the real server.
  const errors: readonly (readonly [token: string, message: string])[] = [
    ['nonsense', `invalid character '\\u009e' looking for beginning of value`],
    ['!!!', 'illegal base64 data at input byte 0'],
    [token({ v: 'meta.k8s.io/v9', rv: 1, start: 'a' }), 'server does not recognize this encoded version meta.k8s.io/v9'],
    [token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: '../x' }), '../x'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token({ v: 'meta.k8s.io/v1', rv: 1 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/../../secrets/b' }), 'a/../../secrets/b'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: '/a//b' }), '/a//b'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/.' }), 'a/.'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/' }), 'a/'],
    [token({}), 'server does not recognize this encoded version '],
    [token('null'), 'server does not recognize this encoded version '],
    [token('{"v":"meta.k8s.io/v1"'), 'unexpected end of JSON input'],
    [token('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [
      token({ v: 'meta.k8s.io/v1', rv: 'x', start: 'a' }),
      'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
    ],
    [token({ v: 'meta.k8s.io/v1', rv: null, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    ['AAAAA', 'illegal base64 data at input byte 4'],
  ];
  it.each(errors)('%s is rejected: %s', (text, message) => {
    expect(() => decodeContinue(text, '/pods/')).toThrow(new Error(`continue key is not valid: ${message}`));
  });
});
