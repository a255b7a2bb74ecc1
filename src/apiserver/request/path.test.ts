import { describe, expect, it } from 'vitest';
import { decodePath, escapePath, joinPath } from './path.ts';

describe('decodePath', () => {
  it.each([
    ['/a/b', '/a/b'],
    ['/a%2Fb/%2e%2e', '/a/b/..'],
    ['/%C3%A4', '/ä'],
    ['/ä%ff%2fx', '/ä\ufffd/x'],
    ['/%zz', undefined],
    ['/a%', undefined],
    ['/a%2', undefined],
  ])('%j is %j', (raw, want) => expect(decodePath(raw)).toBe(want));
});

describe('escapePath', () => {
  // Recorded from a pod behind kube-apiserver's proxy.
  it.each([
    ['/a b?c#d%e', '/a%20b%3Fc%23d%25e'],
    ['/ää+b', '/%C3%A4%C3%A4+b'],
    ["/a;b=c&d,e:@f$g(h)*!'i", '/a;b=c&d,e:@f$g%28h%29%2A%21%27i'],
    ['/[x]', '/%5Bx%5D'],
  ])('%j is %j', (path, want) => expect(escapePath(path)).toBe(want));
});

describe('joinPath', () => {
  it.each([
    [['', '/a/../b'], '/b'],
    [['', '//a//b'], '/a/b'],
    [['', '/a/./b/'], '/a/b/'],
    [['', '/../x'], '/x'],
    [['/x', '/'], '/x/'],
    [['', ''], ''],
  ])('%j is %j', (paths, want) => expect(joinPath(...paths)).toBe(want));
});
