import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { fnv64a } from '#apimachinery/runtime/fnv';
import { oneStep } from '#apimachinery/runtime/steps';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';
import { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { parseShardSelector } from './shard-selector.ts';

const [zero, half, end] = ["'0x0000000000000000'", "'0x8000000000000000'", "'0x10000000000000000'"];
const range = (first: string, from = zero, to = half): string => `shardRange(${first}, ${from}, ${to})`;
const uid = 'object.metadata.uid';
const expected = 'expected field path (e.g. object.metadata.uid), got expression kind';

/** Answers of kube-apiserver v1.36.3 with the feature gate. */
const rejected: readonly (readonly [expression: string, message: string])[] = [
  [' ', 'empty shard selector is not allowed; omit the parameter for unfiltered lists'],
  ['x', 'unexpected expression kind 3; expected shardRange() call or || operator'],
  ['true', 'unexpected expression kind 5; expected shardRange() call or || operator'],
  ['a.b', 'unexpected expression kind 7; expected shardRange() call or || operator'],
  ['{}', 'unexpected expression kind 6; expected shardRange() call or || operator'],
  ['[]', 'unexpected expression kind 4; expected shardRange() call or || operator'],
  ['A{}', 'unexpected expression kind 8; expected shardRange() call or || operator'],
  ['foo(1)', 'unsupported function "foo"; only shardRange() and || are allowed'],
  ['!shardRange(1)', 'unsupported function "!_"; only shardRange() and || are allowed'],
  [`${range(uid)} && true`, 'unsupported function "_&&_"; only shardRange() and || are allowed'],
  [`${range(uid)} || x`, 'unexpected expression kind 3; expected shardRange() call or || operator'],
  ['[1].all(x, x)', 'unsupported function "all"; only shardRange() and || are allowed'],
  ['object.metadata.?uid', "CEL parse error: unsupported syntax '.?'"],
  [
    '1 +',
    "CEL parse error: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [`shardRange(${uid})`, 'shardRange() requires exactly 3 arguments, got 1'],
  [range('1'), `shardRange() first argument: ${expected} 5`],
  ['object.shardRange(1, 2, 3)', `shardRange() first argument: ${expected} 5`],
  [range('has(object.a)'), `shardRange() first argument: ${expected} 1`],
  [
    range('object.metadata.name'),
    'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
  ],
  [range(`.${uid}`), 'unsupported field path ".object.metadata.uid"; supported: object.metadata.uid, object.metadata.namespace'],
  [range(uid, 'x'), "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"],
  [range(uid, '1'), 'hexStart must be a string literal, got int64'],
  [range(uid, '1u'), 'hexStart must be a string literal, got uint64'],
  [range(uid, '1.5'), 'hexStart must be a string literal, got float64'],
  [range(uid, 'true'), 'hexStart must be a string literal, got bool'],
  [range(uid, 'null'), 'hexStart must be a string literal, got structpb.NullValue'],
  [range(uid, "b'a'"), 'hexStart must be a string literal, got []uint8'],
  [range(uid, "'0000000000000000'"), 'hexStart must have \'0x\' prefix, got "0000000000000000"'],
  [range(uid, "'0x'"), "hexStart: hex value is required after '0x'"],
  [range(uid, "'0xéé000000000000000000'"), 'hexStart: hex value too long (22 chars, max 17): "éé000000000000000000"'],
  [range(uid, "'0xA000000000000000'"), 'hexStart: invalid hex character "A" in "0xA000000000000000"'],
  [range(uid, "'0xé'"), 'hexStart: invalid hex character "é" in "0xé"'],
  [
    range(uid, zero, "'0x20000000000000000'"),
    'hexEnd: 17-digit hex value must be \'0x10000000000000000\' (2^64), got "0x20000000000000000"',
  ],
  [range(uid, "'0x0'"), 'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)'],
  [range(uid, half, zero), 'shard range start 0x8000000000000000 must be less than end 0x0000000000000000'],
  [
    `${range(uid)} || ${range('object.metadata.namespace')}`,
    'all shard ranges must use the same field, got "object.metadata.namespace" and "object.metadata.uid"',
  ],
];

function cached(metadata: Readonly<Record<string, string>>): CachedObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  return new CachedObject('/x', 1, 1, Buffer.from(JSON.stringify(object)), {
    parse: () => object,
    parseSteps: () => oneStep(() => object),
    fields: () => ({ 'metadata.namespace': metadata.namespace ?? '' }),
    fieldPaths: new Set(),
  });
}

describe('a shard selector', () => {
  it.each(rejected)('%s is rejected', (expression, message) => {
    expect(() => parseShardSelector(expression)).toThrow(new Error(`invalid shard selector: ${message}`));
  });

  it('has a canonical text', () => {
    expect(parseShardSelector(` (shardRange(${uid},${zero} , "0x8000000000000000"))||${range(uid, half, end)}`).text).toBe(
      `${range(uid)} || ${range(uid, half, end)}`,
    );
  });

  // Halves of these uids: as kube-apiserver listed them.
  it.each([
    ['0255f6df-8c51-4ac6-8898-1e002a70ff71', range(uid)],
    ['9c25ca26-3b10-488c-ae32-6f3179b3ff7b', range(uid)],
    ['d461f0d5-a7bd-45c0-a4a7-55f9929eb893', range(uid)],
  ])('selects %s by %s', (value, expression) => {
    expect(parseShardSelector(expression).matches(cached({ uid: value }))).toBe(true);
    expect(parseShardSelector(range(uid, half, end)).matches(cached({ uid: value }))).toBe(false);
  });

  it('by namespace keeps the objects of a namespace together', () => {
    const lower = parseShardSelector(range('object.metadata.namespace'));
    const both = parseShardSelector(`${range('object.metadata.namespace', half, end)} || ${range('object.metadata.namespace')}`);
    // kube-apiserver lists no object of the namespace default in the lower half.
    expect(lower.matches(cached({ uid: 'a', namespace: 'default' }))).toBe(false);
    expect(both.matches(cached({ uid: 'a', namespace: 'default' }))).toBe(true);
  });

  it('with many ranges in any order selects by their union, in time that does not grow with their number', () => {
    const hex = (number: number): string => `'0x${number.toString(16).padStart(3, '0').padEnd(16, '0')}'`;
    // Every second of 2,400 ranges, and one within another.
    const starts = Array.from({ length: 1_200 }, (_, i) => 2 * ((i * 7) % 1_200));
    const ranges = [range(uid, hex(0), "'0x0010000000000001'"), ...starts.map((start) => range(uid, hex(start), hex(start + 1)))];
    const selector = parseShardSelector(ranges.join('||'));
    const objects = Array.from({ length: 12_000 }, (_, i) => cached({ uid: `uid-${i}` }));
    const within = ({ uid }: CachedObject): boolean => {
      const hash = fnv64a(uid);
      const first = Number(hash >> 52n);
      return (first < 2_400 && first % 2 === 0) || hash === 0x0010000000000000n;
    };
    expect(objects.filter((object) => selector.matches(object))).toEqual(objects.filter(within));
    // Comparing each object with each range takes 200.
    expect(leastThreadTime(() => objects.filter((object) => selector.matches(object)), 60)).toBeLessThan(60);
  });
});
