import { describe, expect, it } from 'vitest';
import { immediate, yielding } from '#apimachinery/runtime/pace';
import { ObjectEncoding } from './object-encoding.ts';
import { schemas, thing } from './test-things.ts';

const type = schemas.struct('test_v1.Thing');
const encoding = new ObjectEncoding(type, false);
const custom = new ObjectEncoding(type, true);
const at = (revision: string, color = 'red'): string =>
  `{"kind":"Thing","apiVersion":"things.example.com/v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"${revision}"},"spec":{"color":"${color}"}}\n`;

describe('ObjectEncoding', () => {
  it.each([
    { name: 'a small object', pace: immediate, of: encoding },
    { name: 'a large object', pace: yielding, of: encoding },
    { name: 'an object whose fields have no order', pace: immediate, of: custom },
  ])('encodes $name at any revision, and sets the revision of the object', async ({ pace, of }) => {
    const object = thing('red');
    const encoded = await of.encodeRevision(pace, object, 9);
    const parsed = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
    expect(parsed(encoded.bytes)).toEqual(JSON.parse(at('9')));
    expect(parsed(encoded.at(12_345))).toEqual(JSON.parse(at('12345')));
    expect(object.metadata.resourceVersion).toBe('12345');
    expect(parsed(encoded.at(7))).toEqual(JSON.parse(at('7')));
  });

  it('replaces the revision of the metadata only', async () => {
    const object = thing('"resourceVersion":"9"');
    const encoded = await encoding.encodeRevision(immediate, object, 9);
    expect(JSON.parse(encoded.at(10).toString())).toMatchObject({
      metadata: { resourceVersion: '10' },
      spec: { color: '"resourceVersion":"9"' },
    });
  });

  it('ends with a line break and has the order of the type', () => {
    const { spec, ...rest } = thing('red', { name: 'a', resourceVersion: '1' });
    expect(encoding.encode({ spec, ...rest } as never).toString()).toBe(at('1'));
  });

  it('parses a list that Go encodes as null like an absent one', () => {
    const bags = new ObjectEncoding(schemas.struct('test_v1.Bag'), false);
    const stored = Buffer.from('{"metadata":{"name":"a"},"items":null}\n');
    expect(bags.parse(stored)).toEqual({ metadata: { name: 'a' } });
    expect(bags.encode(bags.parse(stored))).toEqual(stored);
  });

  const entry = (time: string, manager = 'm') => ({ manager, operation: 'Update', time, fieldsType: 'FieldsV1', fieldsV1: {} });
  const managed = (time: string, color = 'red', manager = 'm') =>
    thing(color, { name: 'a', resourceVersion: '1', managedFields: [entry(time, manager)] } as never);
  const earlier = '2026-01-01T00:00:00Z';
  const later = '2026-01-01T00:00:09Z';
  it.each([
    { name: 'only the time of an entry', object: managed(later), want: true },
    { name: 'nothing', object: managed(earlier), want: false },
    { name: 'a field of the same length, too', object: managed(later, 'blu'), want: false },
    { name: 'the manager, too', object: managed(later, 'red', 'n'), want: false },
    { name: 'the length', object: managed(later, 'green'), want: false },
  ])('knows whether a write changes $name', ({ object, want }) => {
    const stored = managed(earlier);
    expect(encoding.onlyTimesDiffer(object, stored, encoding.encode(object), encoding.encode(stored))).toBe(want);
  });

  it.each([
    { name: 'the limit of requests', bytes: 1_572_864, want: undefined },
    { name: 'more than the limit of requests', bytes: 1_572_865, want: 'etcdserver: request is too large' },
    { name: 'more than the limit of messages', bytes: 2_097_153, want: /larger than max \(2097153 vs\. 2097152\)/ },
  ])('reports the error of etcd for $name', ({ bytes, want }) => {
    const refusal = custom.refusal(thing('red'), bytes);
    if (want === undefined) expect(refusal).toBeUndefined();
    else expect(refusal?.message).toMatch(want);
  });
});
