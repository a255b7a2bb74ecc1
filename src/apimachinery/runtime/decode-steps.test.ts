import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, type DecodeOptions } from './decode.ts';
import { decodeSteps } from './decode-steps.ts';
import { SchemaRegistry, type SchemaTable } from './schema.ts';
import { atOnce, type Steps } from './steps.ts';

const table: SchemaTable = {
  Node: {
    fields: {
      name: { type: 'string' },
      size: { type: 'integer', format: 'int64' },
      at: { ref: 'meta_v1.Time' },
      child: { ref: 'Node', ptr: true },
      nodes: { type: 'array', items: { ref: 'Node' } },
      words: { type: 'array', items: { type: 'string' } },
      labels: { map: { type: 'string' } },
      limits: { map: { ref: 'resource.Quantity' } },
      byName: { map: { ref: 'Node' } },
      raw: { ref: 'runtime.RawExtension' },
    },
  },
};
const node = new SchemaRegistry(() => table).struct('test_v1.Node');

type Outcome = { readonly object: unknown; readonly unknownFields: readonly string[] } | { readonly error: string };

function outcomeOf(work: () => Outcome): Outcome {
  try {
    return work();
  } catch (error) {
    return { error: (error as Error).message };
  }
}

const { constantFrom, dictionary } = fc;

/** Fields without nodes: also unknown ones, nulls, zero values, and values of a wrong type. */
const flat = {
  name: constantFrom<unknown>('', 'a', 'b', 'c', null),
  size: constantFrom<unknown>(0, 1, 2, 3, '1', 1.5),
  at: constantFrom<unknown>('2026-01-01T00:00:00Z', '2026-01-01T00:00:00+01:00', null),
  words: fc.array(constantFrom<unknown>('a', 'b', 'c', null), { maxLength: 6 }),
  labels: dictionary(constantFrom('a', 'b', 'c', '__proto__'), constantFrom<unknown>('x', '', null, 'y')),
  limits: dictionary(constantFrom('a', 'b', 'c'), constantFrom<unknown>('1', '1000m', 5, '2Gi')),
  raw: constantFrom<unknown>({ b: 1, a: [{}] }, []),
  unknown: constantFrom<unknown>(1, {}, []),
};

/** Documents with nodes in nodes of this depth. */
function documents(depth: number): fc.Arbitrary<object> {
  if (depth === 0) return fc.record(flat, { requiredKeys: [] });
  const inner = fc.oneof(
    { weight: 12, arbitrary: documents(depth - 1) },
    { weight: 1, arbitrary: constantFrom<unknown>(null, 1, 'x', [], [null], {}) },
  );
  const nodes = { child: inner, nodes: fc.array(inner, { maxLength: 4 }), byName: dictionary(constantFrom('a', 'b'), inner) };
  return fc.record({ ...flat, ...nodes }, { requiredKeys: [] });
}

/** Faults that end a decoding early. */
const faults = constantFrom<Record<string, unknown>>({}, { at: 'never' }, { limits: { a: 'x' } }, { labels: { a: 1 } }, { words: [1] });

describe('decodeSteps', () => {
  const forms: readonly DecodeOptions[] = [{}, { strict: false }, { form: 'unstructured' }, { rawContent: 'sorted' }];

  it.each(forms)('has the result, the unknown fields and the error of decode, wherever it is cut: %j', (options) => {
    fc.assert(
      fc.property(
        fc.array(documents(2), { maxLength: 8 }),
        faults,
        fc.nat(4),
        fc.integer({ min: 1, max: 12 }),
        (nodes, fault, at, most) => {
          const document = { nodes: nodes.map((one, i) => (i === at ? Object.assign({}, one, fault) : one)), name: 'x' };
          const expected = outcomeOf(() => decode(node, structuredClone(document), options));
          expect(outcomeOf(() => atOnce(decodeSteps(node, structuredClone(document), options, most)))).toStrictEqual(expected);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('reports the first hundred unknown fields in document order', () => {
    const document = { nodes: Array.from({ length: 300 }, (_, i) => ({ [`u${i % 70}`]: 1, nodes: [{ w: i }, { w: i }], z: 1 })), x: 1 };
    const expected = decode(node, structuredClone(document)).unknownFields;
    expect(expected).toHaveLength(100);
    for (const most of [1, 3, 100, 1_024])
      expect(atOnce(decodeSteps(node, structuredClone(document), {}, most)).unknownFields).toEqual(expected);
  });

  it('refuses the depth that decode refuses', () => {
    const nested = (depth: number, inner: unknown): unknown =>
      Array.from({ length: depth }).reduce((value) => ({ nodes: [{}, value] }), inner);
    const endOf = (work: () => unknown): string => {
      try {
        work();
        return 'decoded';
      } catch (error) {
        return (error as Error).message;
      }
    };
    for (const depth of [998, 999, 1_000, 1_001]) {
      const expected = endOf(() => decode(node, nested(depth, {})));
      expect(endOf(() => atOnce(decodeSteps(node, nested(depth, {}), {}, 3)))).toBe(expected);
    }
  });

  const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  it.each<[name: string, document: unknown]>([
    ['a list', { nodes: many(50_000, () => ({})) }],
    ['a list in an item', { nodes: [{ nodes: many(50_000, () => ({})) }] }],
    ['short lists in each other', { nodes: many(40, () => ({ nodes: many(35, () => ({ nodes: many(35, () => ({})) })) })) }],
    ['a map', { byName: Object.fromEntries(many(50_000, (i) => [`k${i}`, {}])) }],
    ['maps in a list', { nodes: many(500, () => ({ limits: Object.fromEntries(many(100, (i) => [`k${i}`, '1'])) })) }],
    ['beside unknown fields', { ...Object.fromEntries(many(5_000, (i) => [`u${i}`, 1])), nodes: many(50_000, () => ({})) }],
  ])('decodes few values in one step: %s', (_name, document) => {
    const steps = decodeSteps(node, document);
    expect(turnsOf(steps)).toBeGreaterThan(30);
  });
});

function turnsOf(steps: Steps<unknown>): number {
  let turns = 0;
  while (!steps.next().done) turns++;
  return turns;
}
