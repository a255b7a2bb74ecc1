import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CachedObject } from './cached-object.ts';
import { labelsOf, narrow, pathsAround } from './large-object.ts';
import { emptyReader } from './test-fixture.ts';
import { needsSteps } from '#apimachinery/runtime/steps';
import type { KubeObject } from '#apimachinery/meta/types';

const narrowed = (object: object, kept = pathsAround(['spec.a.b'])): unknown =>
  JSON.parse(narrow(Buffer.from(JSON.stringify(object)), kept).json.toString());

const wide = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `v${i}`]));

it('pathsAround returns the parents of fields', () => {
  expect([...pathsAround(['spec.nodeName', 'type', 'spec.a.b'])]).toEqual(['', 'metadata', 'spec', 'spec.a']);
});

it.each([
  { name: 'a wide map', object: { data: wide(3_000) }, want: { data: wide(1_000) } },
  { name: 'a map with a thousand members', object: { data: wide(1_000) }, want: { data: wide(1_000) } },
  { name: 'a long list', object: { a: { b: Array(2_000).fill(1) }, c: 1 }, want: { a: { b: Array(1_000).fill(1) }, c: 1 } },
  {
    name: 'wide lists inside a long list and after it',
    object: { a: Array(1_500).fill({ b: wide(1_100) }), c: wide(2_000), d: [wide(1_001)] },
    want: { a: Array(1_000).fill({ b: wide(1_000) }), c: wide(1_000), d: [wide(1_000)] },
  },
  {
    name: 'maps around fields stay whole',
    object: { ...wide(2_000), spec: { ...wide(2_000), a: { ...wide(2_000), b: 'x' } } },
    want: { ...wide(2_000), spec: { ...wide(2_000), a: { ...wide(2_000), b: 'x' } } },
  },
  { name: 'maps of the same name elsewhere', object: { x: { spec: wide(2_000) } }, want: { x: { spec: wide(1_000) } } },
])('narrow: $name', ({ object, want }) => {
  expect(narrowed(object)).toEqual(want);
});

it('brackets, commas, quotes and backslashes inside strings are not syntax', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ',', ':', 'a') }),
      (value, text) => {
        const object = { value, [text]: text, metadata: { labels: { [text]: text }, [text]: [text] } };
        expect(narrowed(object)).toEqual(JSON.parse(JSON.stringify(object)));
        const json = Buffer.from(JSON.stringify(object));
        const { start, end } = narrow(json, pathsAround([])).labels;
        expect(json.toString('utf8', start, end)).toBe(JSON.stringify({ [text]: text }));
      },
    ),
  );
});

it('labels are those of the metadata only', () => {
  const json = Buffer.from('{"metadata":{"labels":{"a":"b"}},"metadata.labels":{"c":"d"},"labels":{},"x":{"metadata":{"labels":{}}}}');
  const { start, end } = narrow(json, pathsAround([])).labels;
  expect(json.toString('utf8', start, end)).toBe('{"a":"b"}');
});

it('labels: a key-by-key search returns the same as parsing', () => {
  const texts = fc.string({ unit: fc.constantFrom('"', '\\', ':', ',', 'a', 'b', 'é'), maxLength: 5 });
  fc.assert(
    fc.property(fc.dictionary(texts, texts), fc.array(texts, { maxLength: 3 }), (some, keys) => {
      const labels = { ...wide(2_000), ...some };
      const found = labelsOf(Buffer.from(JSON.stringify(labels)), keys);
      for (const key of keys) expect(Object.hasOwn(found, key) ? found[key] : undefined).toBe((labels as Record<string, string>)[key]);
    }),
    { numRuns: 300 },
  );
});

it('a large object has the same labels and fields as when parsed whole', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { ...wide(20_000), app: 'x' } },
    spec: { nodeName: 'n', containers: [{ env: Array(50_000).fill({ name: 'e' }) }] },
  };
  const parsed: number[] = [];
  const reader = {
    ...emptyReader,
    parse: (bytes: Buffer) => {
      parsed.push(bytes.length);
      return JSON.parse(bytes.toString()) as KubeObject;
    },
    fields: ({ metadata, spec }: KubeObject) => ({
      'metadata.name': metadata.name ?? '',
      'spec.nodeName': (spec as typeof object.spec).nodeName,
    }),
    fieldPaths: pathsAround(['spec.nodeName']),
  };
  const cached = new CachedObject('/pods/ns/a', 1, 1, Buffer.from(JSON.stringify(object)), reader);
  expect(cached.labelsOf(['app', 'k19999', 'none'])).toEqual({ app: 'x', k19999: 'v19999' });
  expect(cached.fields).toEqual({ 'metadata.name': 'a', 'spec.nodeName': 'n' });
  expect(parsed.some(needsSteps)).toBe(false);
});
