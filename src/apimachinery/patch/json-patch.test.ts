import { describe, expect, it } from 'vitest';
import type { StatusError } from '#apimachinery/api/errors';
import { interpretPatchError } from './interpret-patch-error.ts';
import { applyJsonPatch, applyJsonPatchSteps, decodeJsonPatch, JsonPatchError, maxJsonPatchOperations } from './json-patch.ts';

interface Row {
  readonly name: string;
  readonly document: unknown;
  readonly patch: readonly unknown[];
  readonly want?: unknown;
  readonly error?: string;
}

const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const remove = (path: string) => ({ op: 'remove', path });
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });
const test = (path: string, value: unknown) => ({ op: 'test', path, value });
const copy = (from: string, path: string) => ({ op: 'copy', from, path });
const move = (from: string, path: string) => ({ op: 'move', from, path });
const own = (key: string, value: unknown) => JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as unknown;

const rows: readonly Row[] = [
  { name: 'add a field', document: { a: 1 }, patch: [add('/b', 2)], want: { a: 1, b: 2 } },
  { name: 'add over a field', document: { a: 1 }, patch: [add('/a', 2)], want: { a: 2 } },
  { name: 'add to the end of a list', document: { l: [1] }, patch: [add('/l/-', 2)], want: { l: [1, 2] } },
  { name: 'add before an item', document: { l: [1, 2] }, patch: [add('/l/1', 9)], want: { l: [1, 9, 2] } },
  { name: 'add at a negative index counts from the end', document: { l: [1, 2] }, patch: [add('/l/-1', 9)], want: { l: [1, 2, 9] } },
  {
    name: 'add past the end',
    document: { l: [1] },
    patch: [add('/l/2', 9)],
    error: "error in add for path: '/l/2': Unable to access invalid index: 2: invalid index referenced",
  },
  {
    name: 'add at an index of 19 digits',
    document: { l: [1] },
    patch: [add('/l/+01234567890123456789', 9)],
    error: 'Unable to access invalid index: 1234567890123456789: invalid index referenced',
  },
  {
    name: 'add at an index of 16 digits',
    document: { l: [1] },
    patch: [add('/l/-9007199254740993', 9)],
    error: 'Unable to access invalid index: -9007199254740993: invalid index referenced',
  },
  {
    name: 'add at an index beyond int64',
    document: { l: [1] },
    patch: [add('/l/9223372036854775808', 9)],
    error: 'strconv.Atoi: parsing "9223372036854775808": value out of range',
  },
  { name: 'add at an invalid index', document: { l: [1] }, patch: [add('/l/x', 9)], error: "value was not a proper array index: 'x'" },
  {
    name: 'add below a missing parent',
    document: {},
    patch: [add('/a/b', 1)],
    error: 'add operation does not apply: doc is missing path: "/a/b": missing value',
  },
  { name: 'add below null', document: { a: null }, patch: [add('/a/b', 1)], error: 'doc is missing path' },
  { name: 'add below a scalar', document: { a: 1 }, patch: [add('/a/b', 1)], error: 'doc is missing path' },
  { name: 'add without a path', document: {}, patch: [{ op: 'add', value: 1 }], error: 'add operation failed to decode path' },
  { name: 'add to the empty path', document: {}, patch: [add('', 1)], error: 'doc is missing path' },
  { name: 'text before the first slash is ignored', document: {}, patch: [add('x/a', 1)], want: { a: 1 } },
  { name: 'add without a value is null', document: {}, patch: [{ op: 'add', path: '/a' }], want: { a: null } },
  { name: 'escaped tokens', document: { 'a/b': { 'c~d': 1 } }, patch: [replace('/a~1b/c~0d', 2)], want: { 'a/b': { 'c~d': 2 } } },
  { name: 'remove a field', document: { a: 1, b: 2 }, patch: [remove('/a')], want: { b: 2 } },
  {
    name: 'remove a missing field',
    document: {},
    patch: [remove('/a')],
    error: "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
  },
  { name: 'remove an item', document: { l: [1, 2, 3] }, patch: [remove('/l/1')], want: { l: [1, 3] } },
  { name: 'remove the last item by a negative index', document: { l: [1, 2, 3] }, patch: [remove('/l/-1')], want: { l: [1, 2] } },
  { name: 'remove at an invalid index', document: { l: [] }, patch: [remove('/l/0')], error: 'Unable to access invalid index: 0' },
  { name: 'replace a missing field adds it', document: {}, patch: [replace('/a', 1)], want: { a: 1 } },
  {
    name: 'replace a missing item',
    document: { l: [] },
    patch: [replace('/l/0', 1)],
    error: 'replace operation does not apply: doc is missing key: /l/0: missing value',
  },
  { name: 'replace the document', document: { a: 1 }, patch: [replace('', { b: 1 }), add('/c', 2)], want: { b: 1, c: 2 } },
  {
    name: 'replace the document by a scalar',
    document: { a: 1 },
    patch: [replace('', 1)],
    error: 'replace operation value must be object or array',
  },
  { name: 'move', document: { a: { x: 1 }, b: {} }, patch: [move('/a/x', '/b/y')], want: { a: {}, b: { y: 1 } } },
  {
    name: 'move a missing field',
    document: { b: {} },
    patch: [move('/a', '/b/y')],
    error: "error in move for path: 'a': Unable to remove nonexistent key: a",
  },
  { name: 'copy', document: { a: { x: [1] } }, patch: [copy('/a', '/b'), add('/b/x/-', 2)], want: { a: { x: [1] }, b: { x: [1, 2] } } },
  { name: 'copy of a missing field is null', document: {}, patch: [copy('/a', '/b')], want: { b: null } },
  {
    name: 'copies of more than 3 MiB',
    document: { a: 'x'.repeat(2 ** 21) },
    patch: [copy('/a', '/b'), copy('/a', '/c')],
    error: 'exceeding the limit 3145728',
  },
  { name: 'test that holds', document: { a: { b: [1, null] } }, patch: [test('/a', { b: [1, null] })], want: { a: { b: [1, null] } } },
  { name: 'test that fails', document: { a: 1 }, patch: [test('/a', 2)], error: 'testing value /a failed: test failed' },
  { name: 'test of a missing field against null', document: {}, patch: [test('/a', null)], want: {} },
  { name: 'test of a missing field', document: {}, patch: [test('/a', 1)], error: 'testing value /a failed: test failed' },
  { name: 'test of the document', document: { a: 1 }, patch: [test('', { a: 1 })], want: { a: 1 } },
  {
    name: 'test below a missing parent',
    document: {},
    patch: [test('/a/b', 1)],
    error: 'test operation does not apply: is missing path: /a/b: missing value',
  },
  { name: 'an unknown operation', document: {}, patch: [{ op: 'frob', path: '/a' }], error: 'Unexpected kind: frob' },
  { name: 'no operation', document: {}, patch: [{ path: '/a' }], error: 'Unexpected kind: unknown' },
  {
    name: '__proto__ is an ordinary key',
    document: {},
    patch: [add('/__proto__', { x: 1 }), add('/__proto__/y', 2)],
    want: own('__proto__', { x: 1, y: 2 }),
  },
  { name: 'an absent __proto__', document: {}, patch: [add('/__proto__/x', 1)], error: 'doc is missing path' },
  { name: 'an absent constructor', document: {}, patch: [add('/constructor/prototype', 1)], error: 'doc is missing path' },
];

describe('applyJsonPatch', () => {
  it.each(rows)('$name', ({ document, patch, want, error }) => {
    const before = structuredClone(document);
    if (error !== undefined) expect(() => applyJsonPatch(document, patch)).toThrow(error);
    else expect(applyJsonPatch(document, patch)).toStrictEqual(want);
    expect(document).toStrictEqual(before);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it('does not change the values of the patch', () => {
    const patch = [add('/a', { b: 1 }), add('/a/c', 2)];
    expect(applyJsonPatch({}, patch)).toEqual({ a: { b: 1, c: 2 } });
    expect(patch[0]).toEqual(add('/a', { b: 1 }));
  });

  it('shares untouched values', () => {
    const document = { a: { x: 1 }, b: { y: 1 } };
    const result = applyJsonPatch(document, [replace('/a/x', 2)]) as typeof document;
    expect(result.b).toBe(document.b);
  });

  it('returns 422 without the message', () => {
    const error = interpretPatchError(new JsonPatchError('testing value /a failed: test failed'));
    expect((error as StatusError).status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  });
});

describe('decodeJsonPatch', () => {
  it.each([
    {
      name: 'an object',
      patch: {},
      message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
      code: 400,
    },
    {
      name: 'an object, not strict',
      patch: {},
      strict: false,
      message: 'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
      code: 400,
    },
    {
      name: 'a string in the list',
      patch: ['x'],
      message: 'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp',
      code: 400,
    },
    {
      name: 'a number as the path',
      patch: [{ op: 'add', path: 5 }],
      code: 400,
      message: 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
    },
    {
      name: 'too many operations',
      patch: Array.from({ length: maxJsonPatchOperations + 1 }, () => test('/a', 1)),
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    },
  ])('$name', ({ patch, strict, message, code }) => {
    let thrown: unknown;
    try {
      decodeJsonPatch(patch, { isStrict: strict ?? true });
    } catch (error) {
      thrown = error;
    }
    expect((thrown as StatusError).status).toMatchObject({ message, code });
  });

  it('reports unknown fields', () => {
    expect(
      decodeJsonPatch([
        { op: 'add', path: '/a', value: { any: 1 } },
        { op: 'test', path: '/a', foo: 1, value: 2 },
      ]).strictErrors,
    ).toEqual(['json patch unknown field "[1].foo"']);
  });
});

it('puts the keys of the objects that paths lead through in order', () => {
  const document = { b: { d: 1, c: 2 }, a: { z: 1, y: 2 } };
  const patched = applyJsonPatch(document, [{ op: 'add', path: '/b/a', value: { q: 1, p: 2 } }]);
  expect(JSON.stringify(patched)).toBe('{"a":{"z":1,"y":2},"b":{"a":{"q":1,"p":2},"c":2,"d":1}}');
});

it('yields to the event loop while it copies a wide object', () => {
  const stepsOf = (keys: number): number => {
    const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, '']));
    const steps = applyJsonPatchSteps({ data }, decodeJsonPatch([remove('/data/missing')]), new WeakSet());
    let number = 0;
    // The operation fails, so all steps are before its end.
    expect(() => {
      while (!steps.next().done) number += 1;
    }).toThrow(new JsonPatchError("error in remove for path: '/data/missing': Unable to remove nonexistent key: missing: missing value"));
    return number;
  };
  expect(stepsOf(10)).toBe(0);
  expect(stepsOf(50_000)).toBeGreaterThan(9);
});

it('applies at any depth', () => {
  const depth = 9_000;
  let document: unknown = { a: 1 };
  for (let i = 0; i < depth; i += 1) document = i % 2 === 0 ? [document] : { x: document };
  const path = Array.from({ length: depth }, (_, i) => ((depth - 1 - i) % 2 === 0 ? '0' : 'x')).join('/');
  let patched = applyJsonPatch(document, decodeJsonPatch([add(`/${path}/b`, 2)]));
  for (let i = depth - 1; i >= 0; i -= 1) patched = i % 2 === 0 ? (patched as unknown[])[0] : (patched as { x: unknown }).x;
  expect(patched).toEqual({ a: 1, b: 2 });
});

it('refuses a result that is nested deeper than Go encodes', () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = { a: value };
    return value;
  };
  const path = '/a'.repeat(6_000);
  expect(() => applyJsonPatch(nested(7_000), [add(path, nested(4_000))])).not.toThrow();
  expect(() => applyJsonPatch(nested(7_000), [add(path, nested(4_001))])).toThrow(new JsonPatchError('exceeded max depth'));
});
