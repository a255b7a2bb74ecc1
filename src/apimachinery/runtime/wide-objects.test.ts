import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { applyMergePatch } from '#apimachinery/patch/merge-patch';
import { setOwn } from '#apimachinery/patch/own-property';
import { deepCopySteps } from './copy.ts';
import { decode } from './decode.ts';
import { decodeSteps } from './decode-steps.ts';
import { deepEqual } from './equality.ts';
import { encodeJson, parseJson, parseJsonSteps } from './json/json.ts';
import { semanticDeepEqual } from './semantic-equality.ts';
import { atOnce } from './steps.ts';
import { keysOf, notedKeys, noteKeys, presentKeys } from './wide-objects.ts';

type Json = Record<string, unknown>;

const names = (count: number, prefix = 'k') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const plain = (count: number): Json => Object.fromEntries(names(count).map((name) => [name, name]));
const noted = (object: Json): Json => noteKeys(object, Object.keys(object));
const sorted = (keys: readonly string[]) => [...keys].sort();

describe('keys of a wide object', () => {
  it('are cached by noteKeys', () => {
    const keys = names(3_000);
    const object = plain(3_000);
    expect(noteKeys(object, keys)).toBe(object);
    expect(keysOf(object)).toBe(keys);
  });

  it('are not cached if there are few', () => {
    expect(notedKeys(noted(plain(100)))).toBeUndefined();
  });

  it.each<[name: string, add: (object: Json) => void, key: string]>([
    ['an assignment', (object) => (object['new'] = 1), 'new'],
    ['Object.assign', (object) => Object.assign(object, { new: 1 }), 'new'],
    ['an assignment to an inherited name', (object) => (object['toString'] = 1), 'toString'],
    ['an assignment to an index', (object) => (object['7'] = 1), '7'],
    ['a definition', (object) => setOwn(object, '__proto__', 1), '__proto__'],
  ])('are listed again after %s', (_name, add, key) => {
    const object = noted(plain(3_000));
    add(object);
    expect(notedKeys(object)).toBeUndefined();
    expect(sorted(keysOf(object))).toEqual(sorted([...names(3_000), key]));
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });

  it('stay cached when a value changes or a key is removed, which is then not present', () => {
    const object = noted(plain(3_000));
    object['k1'] = 'other';
    delete object['k2'];
    expect(keysOf(object)).toHaveLength(3_000);
    expect(presentKeys(object)).toEqual(names(3_000).filter((name) => name !== 'k2'));
    object['k2'] = 'again';
    expect(sorted(keysOf(object))).toEqual(sorted(names(3_000)));
  });

  it('do not change how other code sees the object', () => {
    const object = noted(plain(3_000));
    expect(object).toEqual(plain(3_000));
    expect(structuredClone(object)).toEqual(plain(3_000));
    expect(JSON.stringify(object)).toBe(JSON.stringify(plain(3_000)));
    expect(String(object)).toBe('[object Object]');
    expect('k1' in object && !('x' in object)).toBe(true);
  });
});

describe('producers of wide objects cache their keys', () => {
  const key = fc.oneof(fc.nat(9_999).map(String), fc.constantFrom('__proto__', 'constructor', 'é', 'a"b', ''), fc.string({ maxLength: 4 }));
  const document = fc
    .tuple(fc.array(key, { maxLength: 40 }), fc.nat(1_500))
    .map(([odd, count]) => [...names(2_048, 'a'), ...odd, ...names(count, 'b')])
    .map((keys) => `{"m":{${keys.map((name, i) => `${JSON.stringify(name)}:${i}`).join()}},"l":[{"x":1}]}`);

  it('parseJsonSteps', () => {
    fc.assert(
      fc.property(document, (text) => {
        const { m } = atOnce(parseJsonSteps(Buffer.from(text), 512)).value as { m: Json };
        expect(notedKeys(m)).toBeDefined();
        expect(sorted(keysOf(m))).toEqual(sorted(Object.keys(m)));
        expect(deepEqual(m, (parseJson(Buffer.from(text)).value as { m: Json }).m)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('deepCopySteps', () => {
    const object = { a: noted(plain(3_000)) };
    delete object.a['k5'];
    const copy = atOnce(deepCopySteps(object));
    expect(copy).toEqual(object);
    expect(notedKeys(copy.a)).toBeDefined();
    expect(sorted(presentKeys(copy.a))).toEqual(sorted(Object.keys(object.a)));
  });

  it('a merge patch', () => {
    const patch = Object.fromEntries([...names(500).map((name) => [name, null]), ...names(3_000, 'n').map((name) => [name, 1])]) as Json;
    const merged = atOnce(applyMergePatch(noted(plain(3_000)), noted(patch))) as Json;
    expect(merged).toEqual(atOnce(applyMergePatch(plain(3_000), patch)));
    expect(sorted(keysOf(merged))).toEqual(sorted(Object.keys(merged)));
    expect(notedKeys(merged)).toBeDefined();
  });
});

describe('a wide object behaves like any other', () => {
  const changes = fc.record({
    removed: fc.array(fc.nat(2_999), { maxLength: 5 }),
    added: fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
    set: fc.array(fc.nat(2_999), { maxLength: 5 }),
  });
  const change = (object: Json, { removed, added, set }: { removed: number[]; added: string[]; set: number[] }): Json => {
    for (const i of set) object[`k${i}`] = 'set';
    for (const i of removed) delete object[`k${i}`];
    for (const name of added) setOwn(object, name, 'added');
    return object;
  };

  it('when compared and encoded, after any changes', () => {
    fc.assert(
      fc.property(changes, changes, (one, other) => {
        const wide = change(noted(plain(3_000)), one);
        const same = change(plain(3_000), one);
        expect(deepEqual(wide, same) && deepEqual(same, wide)).toBe(true);
        expect(encodeJson(wide)).toBe(encodeJson(same));
        const [wideOther, sameOther] = [change(noted(plain(3_000)), other), change(plain(3_000), other)];
        expect(deepEqual(wide, wideOther)).toBe(deepEqual(same, sameOther));
        expect(semanticDeepEqual(wide, wideOther)).toBe(semanticDeepEqual(same, sameOther));
      }),
      { numRuns: 40 },
    );
  });

  const type = metaSchema.struct('meta_v1.ObjectMeta');

  it.each<[name: string, make: (wide: (object: Json) => Json) => Json]>([
    ['a map of strings', (wide) => ({ name: 'x', labels: wide(plain(3_000)) })],
    ['a map with a null', (wide) => ({ labels: wide({ ...plain(3_000), k7: null }) })],
    ['a map with removed keys', (wide) => ({ labels: change(wide(plain(3_000)), { removed: [1, 2], added: [], set: [] }) })],
    ['unknown fields', (wide) => wide({ ...plain(3_000), labels: { b: 'c' }, x: 1, name: 'y' })],
  ])('when decoded: %s', (_name, make) => {
    const expected = decode(
      type,
      make((object) => object),
    );
    expect(decode(type, make(noted))).toEqual(expected);
    expect(atOnce(decodeSteps(type, make(noted)))).toEqual(expected);
  });

  it('when decoded with a non-string in a map of strings: the same error', () => {
    const make = (wide: (object: Json) => Json): Json => ({ labels: wide({ ...plain(3_000), k7: 1 }) });
    const problem = (decoding: () => unknown): string => {
      try {
        decoding();
      } catch (error) {
        return (error as Error).message;
      }
      return 'none';
    };
    const expected = problem(() =>
      decode(
        type,
        make((object) => object),
      ),
    );
    expect(expected).toMatch(/cannot unmarshal number/);
    expect(problem(() => atOnce(decodeSteps(type, make(noted))))).toBe(expected);
  });
});
