import { expect, it } from 'vitest';
import { applyJsonPatch } from '#apimachinery/patch/json-patch';
import { atOnce } from '#apimachinery/runtime/steps';
import { reviewPatch } from './review-patch.ts';

it.each([
  { name: 'nothing', sent: { a: 1 }, before: { a: 1 }, after: { a: 1 }, patch: [], want: { a: 1 } },
  {
    name: 'a changed member',
    sent: { a: { 'b/c~': 1, d: 2 } },
    before: { a: { 'b/c~': 1, d: 2 } },
    after: { a: { 'b/c~': 3, d: 2 } },
    patch: [{ op: 'replace', path: '/a/b~1c~0', value: 3 }],
    want: { a: { 'b/c~': 3, d: 2 } },
  },
  {
    name: 'fields that only the cluster knows',
    sent: { a: 1, unknown: { x: 1 } },
    before: { a: 1 },
    after: { a: 2 },
    patch: [{ op: 'replace', path: '/a', value: 2 }],
    want: { a: 2, unknown: { x: 1 } },
  },
  {
    name: 'defaults that the cluster does not have',
    sent: { spec: { list: [{ a: 1 }] } },
    before: { spec: { list: [{ a: 1, more: { x: 1, y: 2, z: 3 } }], mode: 'old' } },
    after: { spec: { list: [{ a: 1, more: { x: 5, z: 4 } }], mode: 'new' } },
    patch: [
      { op: 'add', path: '/spec/list/0/more', value: { x: 5, z: 4 } },
      { op: 'add', path: '/spec/mode', value: 'new' },
    ],
    want: { spec: { list: [{ a: 1, more: { x: 5, z: 4 } }], mode: 'new' } },
  },
  {
    name: 'a removed default that the cluster does not have',
    sent: { spec: {} },
    before: { spec: { mode: 'old' } },
    after: { spec: {} },
    patch: [],
    want: { spec: {} },
  },
])('$name', ({ sent, before, after, patch, want }) => {
  const operations = atOnce(reviewPatch(sent, before, after));
  expect(operations).toEqual(patch);
  expect(applyJsonPatch(structuredClone(sent), operations)).toEqual(want);
});
