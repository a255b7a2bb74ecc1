import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { createJsonPatch } from '#apimachinery/patch/create-patch';
import { annotationOf, applyJsonPatch, deny, labelOf, setAnnotations, setDefaults, setLabels } from './admission-helpers.ts';

it.each([
  { name: 'nothing there', object: {}, defaults: { a: { b: 1 } }, want: { a: { b: 1 } } },
  {
    name: 'keeps existing values',
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

it.each([
  { key: 'a', want: '1' },
  { key: 'b', want: '' },
  { key: 'c', want: undefined },
  { key: 'constructor', want: undefined },
])('labelOf and annotationOf read the own entry $key', ({ key, want }) => {
  const entries = { a: '1', b: '' };
  expect(labelOf({ metadata: { labels: entries } }, key)).toBe(want);
  expect(annotationOf({ metadata: { annotations: entries } }, key)).toBe(want);
  expect(labelOf({ metadata: {} }, key)).toBeUndefined();
  expect(annotationOf({ metadata: {} }, key)).toBeUndefined();
});

describe('applyJsonPatch', () => {
  const original = (): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels: { a: '1', b: '2' } } });

  it('changes the object in place by a patch that createJsonPatch made', () => {
    const after = { ...original(), metadata: { name: 'web', labels: { a: '1', c: '3' } }, spec: {} };
    const object = original();
    applyJsonPatch(object, createJsonPatch(original(), after));
    expect(object).toEqual(after);
  });

  it('leaves the object as it is if an operation does not apply', () => {
    const object = original();
    const operations = [
      { op: 'remove', path: '/metadata/labels/a' },
      { op: 'remove', path: '/metadata/labels/x' },
    ];
    expect(() => applyJsonPatch(object, operations)).toThrow(/x/);
    expect(object).toEqual(original());
  });

  it('shares no values with the patch', () => {
    const object = original();
    const value = { team: 'shop' };
    applyJsonPatch(object, [{ op: 'replace', path: '/metadata/labels', value }]);
    value.team = 'other';
    expect(object.metadata.labels).toEqual({ team: 'shop' });
  });
});
