import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { DecodeError } from '../json/json.ts';
import { decodeProtobuf, decodeProtobufSteps, encodeProtobuf, isProtobuf, protobufKind, protobufLengthSteps } from './protobuf.ts';
import { type StructType, SchemaRegistry } from '../schema.ts';
import { atOnce } from '../steps.ts';
import { noteKeys } from '../wide-objects.ts';

const partial = metaSchema.struct('meta_v1.PartialObjectMetadata');
const identity = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/** Returns an envelope around message fields in hex. */
function envelope(raw: string): Buffer {
  const bytes = Buffer.from(raw.replaceAll(' ', ''), 'hex');
  return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x12, bytes.length]), bytes]);
}

describe('decodeProtobuf', () => {
  it.each([
    { name: 'an empty message', raw: '', object: {} },
    { name: 'an empty struct', raw: '0a00', object: { metadata: {} } },
    { name: 'empty strings are left out', raw: '0a04 0a00 1200', object: { metadata: {} } },
    { name: 'a ten-byte number', raw: '0a0b 38 ffffffffffffffffff01', object: { metadata: { generation: -1 } } },
    { name: 'an unsafe integer', raw: '0a0a 38 ffffffffffffffff7f', object: { metadata: { generation: 2n ** 63n - 1n } } },
    { name: 'unknown fields of each wire type', raw: '0a17 f80105 f1010102030405060708 fa010161 fd0101020304', object: { metadata: {} } },
    { name: 'an unknown group with a group in it', raw: '0a08 fb01 0b 0c 0801 fc01', object: { metadata: {} } },
    { name: 'a message that occurs twice', raw: '0a03 0a0161 0a04 5a02 0a00', object: { metadata: { name: 'a', labels: { '': '' } } } },
    {
      name: 'managed fields with malformed JSON, which the field manager drops',
      raw: '0a0b 8a0108 3a06 0a04 7b7d7d7d',
      object: { metadata: { managedFields: [{ fieldsV1: '{}}}' }] } },
    },
    { name: 'the zero time', raw: '0a02 4200', object: { metadata: {} } },
    { name: 'a map entry without a value', raw: '0a05 5a03 0a0161', object: { metadata: { labels: { a: '' } } } },
    { name: 'a map key that exceeds its entry', raw: '0a08 5a02 0a02 0a00 0a00', object: { metadata: { labels: { '\n\0': '' } } } },
    { name: 'a map entry with other wire types', raw: '0a08 5a06 080161 110162', object: { metadata: { labels: { a: 'b' } } } },
    { name: 'an unknown field of a map entry', raw: '0a07 5a05 0a0161 0005', object: { metadata: { labels: { a: '' } } } },
    { name: 'the last of two values', raw: '0a06 0a0161 0a0162', object: { metadata: { name: 'b' } } },
    { name: 'an explicit zero of a pointer', raw: '0a02 5000', object: { metadata: { deletionGracePeriodSeconds: 0 } } },
  ])('$name', ({ raw, object }) => {
    expect(decodeProtobuf(partial, envelope(raw))).toEqual(object);
  });

  it.each([
    { name: 'a part that is longer than the message', raw: '0a05', message: 'unexpected EOF' },
    { name: 'a string that ends early', raw: '0a03 0a0561', message: 'unexpected EOF' },
    { name: 'an unknown field that ends early', raw: '0a02 f201', message: 'unexpected EOF' },
    { name: 'an unterminated number', raw: '0a0c 38 ffffffffffffffffffffff', message: 'proto: integer overflow' },
    { name: 'another wire type', raw: '0a02 0801', message: 'proto: wrong wireType = 0 for field Name' },
    { name: 'a group', raw: '0b', message: 'proto: wrong wireType = 3 for field ObjectMeta' },
    { name: 'an unknown wire type', raw: '0a02 fe01', message: 'proto: illegal wireType 6' },
    { name: 'the number zero', raw: '00', message: 'proto: PartialObjectMetadata: illegal tag 0 (wire type 0)' },
    { name: 'the end of no group', raw: '0c', message: 'proto: PartialObjectMetadata: wiretype end group for non-group' },
    { name: 'an unknown group that does not end', raw: '0a03 fb0108', message: 'unexpected EOF' },
    { name: 'a negative length', raw: '0aff ffffffffffffffff01', message: 'proto: negative length found during unmarshaling' },
    { name: 'another wire type in a time', raw: '0a04 4202 0a00', message: 'proto: wrong wireType = 2 for field Seconds' },
    { name: 'the number zero in a time', raw: '0a04 4202 0001', message: 'proto: Timestamp: illegal tag 0 (wire type 0)' },
    { name: 'the end of no group in a time', raw: '0a03 4201 14', message: 'proto: Timestamp: wiretype end group for non-group' },
    { name: 'a negative number', raw: '80 80 80 80 40 01', message: 'proto: PartialObjectMetadata: illegal tag -2147483648 (wire type 0)' },
    { name: 'a value of a map entry that exceeds the message', raw: '0a04 5a02 0a05', message: 'unexpected EOF' },
    { name: 'a time without a text form', raw: '0a0c 42 0a 08 ffffffffffffffff7f', message: 'year outside of range' },
  ])('rejects $name', ({ raw, message }) => {
    expect(() => decodeProtobuf(partial, envelope(raw))).toThrow(DecodeError);
    expect(() => decodeProtobuf(partial, envelope(raw))).toThrow(message);
  });

  it('keeps __proto__ as a map key', () => {
    const object = JSON.parse(
      '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"labels":{"__proto__":"a","constructor":"b"}}}',
    );
    const read = decodeProtobuf(partial, encodeProtobuf(partial, object)) as typeof object;
    expect(Object.entries(read.metadata.labels)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('rejects types without a protobuf form', () => {
    const table = metaSchema.struct('meta_v1.Table');
    expect(() => decodeProtobuf(table, envelope(''))).toThrow(DecodeError);
    expect(() => encodeProtobuf(table, {})).toThrow('meta_v1.Table has no message');
    const custom = new SchemaRegistry(() => ({ Thing: { fields: { a: { type: 'string' } } } })).struct('x_v1.Thing');
    expect(() => encodeProtobuf(custom, {})).toThrow('x_v1.Thing has no message');
  });
});

describe('isProtobuf', () => {
  it.each([
    ['k8s\0', true],
    ['k8s\0x', true],
    ['k8s', false],
    ['{}', false],
    ['', false],
  ])('%j: %s', (text, is) => {
    expect(isProtobuf(Buffer.from(text))).toBe(is);
  });

  it('the kind of other bytes than protobuf', () => {
    expect(() => protobufKind(Buffer.from('{}'))).toThrow('expected prefix [107 56 115 0]');
  });
});

describe('encodeProtobuf', () => {
  it('encodes objects larger than its buffer, and small ones after them', () => {
    const annotations = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key-${i}`, 'ü'.repeat(5000)]));
    const large = { ...identity, metadata: { name: 'large', annotations } };
    expect(decodeProtobuf(partial, encodeProtobuf(partial, large))).toEqual(large);
    const small = { ...identity, metadata: { name: 'small' } };
    expect(decodeProtobuf(partial, encodeProtobuf(partial, small))).toEqual(small);
  });

  it('is not affected by a failed encoding', () => {
    const broken = { ...identity, metadata: { name: 'a', creationTimestamp: 'never' } };
    expect(() => encodeProtobuf(partial, broken)).toThrow('parsing time');
    const good = { ...identity, metadata: {} };
    expect(decodeProtobuf(partial, encodeProtobuf(partial, good))).toEqual(good);
  });

  it('accepts deeply nested managed fields', () => {
    let fields: object = {};
    for (let i = 0; i < 9000; i++) fields = { 'f:a': fields };
    const bytes = encodeProtobuf(partial, { ...identity, metadata: { managedFields: [{ fieldsV1: fields }] } });
    let depth = 0;
    const read = decodeProtobuf(partial as StructType, bytes) as { metadata: { managedFields: [{ fieldsV1: Record<string, object> }] } };
    for (
      let at: Record<string, object> | undefined = read.metadata.managedFields[0].fieldsV1;
      at;
      at = at['f:a'] as Record<string, object> | undefined
    )
      depth++;
    expect(depth).toBe(9001);
  });
});

describe('wide maps', () => {
  const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, `ä${i}`]));
  const object = { ...identity, metadata: { labels } };

  it('are measured in chunks', () => {
    const steps = protobufLengthSteps(partial, object);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count += 1;
    expect(step.value).toBe(encodeProtobuf(partial, object).length);
    expect(count).toBeGreaterThan(8);
  });

  it('are encoded without removed keys', () => {
    const fewer = { ...labels };
    noteKeys(fewer, Object.keys(fewer));
    delete fewer['key-7'];
    const changed = { ...identity, metadata: { labels: fewer } };
    const bytes = encodeProtobuf(partial, changed);
    expect(decodeProtobuf(partial, bytes)).toEqual({ ...identity, metadata: { labels: { ...fewer } } });
    expect(atOnce(protobufLengthSteps(partial, changed))).toBe(bytes.length);
  });
});

it('decodes two large messages alternately in chunks', () => {
  const object = (name: string): object => ({
    ...identity,
    metadata: {
      name,
      labels: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`${name}${i}`, 'v'])),
      ownerReferences: Array.from({ length: 5_000 }, (_, i) => ({ apiVersion: 'v1', kind: 'Pod', name: `${name}${i}`, uid: String(i) })),
    },
  });
  const bytes = ['a', 'b'].map((name) => encodeProtobuf(partial, object(name)));
  const open = bytes.map((one) => decodeProtobufSteps(partial, one));
  const read: object[] = [];
  let turns = 0;
  while (read.filter(Boolean).length < 2) {
    turns += 1;
    for (const [i, steps] of open.entries()) {
      const { done, value } = steps.next();
      if (done && value) read[i] = value;
    }
  }
  expect(turns).toBeGreaterThan(10);
  expect(read).toEqual(bytes.map((one) => decodeProtobuf(partial, one)));
});
