import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonPatch, createMergePatch } from './create-patch.ts';
import { applyJsonPatch } from './json-patch.ts';
import { atOnce } from '#apimachinery/runtime/steps';
import { applyMergePatch } from './merge-patch.ts';
import type { JsonObject } from './own-property.ts';

const scalar = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.integer({ min: 0, max: 3 }), fc.boolean());
const key = fc.constantFrom('a', 'b', 'c/d', 'e~f', '__proto__', 'constructor');
const { value: withoutNull } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(key, tie('value'), { maxKeys: 4 })),
}));
const object = fc.dictionary(key, withoutNull, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;
const text = (value: unknown): string => JSON.stringify(sortKeys(value));
const sortKeys = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sortKeys)
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, item]) => [name, sortKeys(item)])
      : value;

describe('patches of two documents', () => {
  it('result in the second document', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        expect(text(applyJsonPatch(before, createJsonPatch(before, after)))).toBe(text(after));
        expect(text(atOnce(applyMergePatch(before, createMergePatch(before, after))))).toBe(text(after));
      }),
      { numRuns: 500 },
    );
  });

  it('are empty for equal documents', () => {
    fc.assert(
      fc.property(object, (document) => {
        expect(createJsonPatch(document, structuredClone(document))).toEqual([]);
        expect(createMergePatch(document, structuredClone(document))).toEqual({});
      }),
    );
  });

  it('contain only the changes', () => {
    const before = { metadata: { labels: { a: '1', b: '2' } }, list: [1, 2, 3] };
    const after = { metadata: { labels: { a: '2', 'c/d': '3' } }, list: [1, 9] };
    expect(createJsonPatch(before, after)).toEqual([
      { op: 'replace', path: '/list/1', value: 9 },
      { op: 'remove', path: '/list/2' },
      { op: 'replace', path: '/metadata/labels/a', value: '2' },
      { op: 'remove', path: '/metadata/labels/b' },
      { op: 'add', path: '/metadata/labels/c~1d', value: '3' },
    ]);
    expect(createMergePatch(before, after)).toEqual({ list: [1, 9], metadata: { labels: { a: '2', b: null, 'c/d': '3' } } });
  });
});
