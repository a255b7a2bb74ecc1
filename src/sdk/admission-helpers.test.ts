import { expect, it } from 'vitest';
import { StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { deny, setAnnotations, setDefaults, setLabels } from './admission-helpers.ts';

it.each([
  { name: 'nothing there', object: {}, defaults: { a: { b: 1 } }, want: { a: { b: 1 } } },
  {
    name: 'what is there stays',
    object: { a: 1, b: { c: [1] } },
    defaults: { a: 2, b: { c: [], d: 3 } },
    want: { a: 1, b: { c: [1], d: 3 } },
  },
  { name: 'null is a value', object: { a: null }, defaults: { a: { b: 1 } }, want: { a: null } },
])('setDefaults: $name', ({ object, defaults, want }) => {
  setDefaults(object, defaults);
  expect(object).toEqual(want);
});

it('setDefaults accepts any key, and copies values', () => {
  const object = {};
  const defaults = JSON.parse('{"__proto__":{"polluted":true},"list":[1]}') as { list: number[] };
  setDefaults(object, defaults);
  defaults.list.push(2);
  expect(JSON.stringify(object)).toBe('{"__proto__":{"polluted":true},"list":[1]}');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it('setLabels and setAnnotations keep existing entries', () => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: '1', b: '1' } } };
  setLabels(object, { b: '2' });
  setAnnotations(object, { c: '3' });
  expect(object.metadata).toEqual({ labels: { a: '1', b: '2' }, annotations: { c: '3' } });
});

it('deny throws a Status that the client receives', () => {
  const request = {
    resource: { group: '', version: 'v1', resource: 'pods' },
    name: 'web',
    object: { apiVersion: 'v1', kind: 'Pod', metadata: {} },
  };
  expect(() => deny(request, 'no')).toThrow(StatusError);
  expect(() => deny(request, 'no')).toThrow('pods "web" is forbidden: no');
});
