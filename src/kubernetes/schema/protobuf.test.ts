import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { schema as crds, tables as crdTables } from '#apiextensions-apiserver/schema/schema';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { decode } from '#apimachinery/runtime/decode';
import { encode } from '#apimachinery/runtime/encode';
import { parseJson } from '#apimachinery/runtime/json/json';
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeProtobufListItem,
  encodeProtobufWatchEvent,
  isProtobuf,
  protobufKind,
  protobufLengthSteps,
  protobufAroundItems,
} from '#apimachinery/runtime/protobuf/protobuf';
import type { StructType, Type } from '#apimachinery/runtime/schema';
import { atOnce } from '#apimachinery/runtime/steps';
import { schema as apiServices, tables as apiServiceTables } from '#kube-aggregator/schema/schema';
import { schema, tables } from './schema.ts';

interface Fixture {
  readonly name: string;
  readonly json: string;
  readonly protobuf: string;
}

/** Objects and responses of the real server, each as JSON and as protobuf. */
const recorded = JSON.parse(readFileSync(new URL('protobuf.fixtures.json', import.meta.url), 'utf8')) as {
  objects: Fixture[];
  answers: Fixture[];
};

function typeOf(apiVersion: string, kind: string): StructType {
  for (const [registry, folder] of [
    [schema, tables],
    [crds, crdTables],
    [apiServices, apiServiceTables],
  ] as const) {
    const name = folder.typeOf(apiVersion, kind);
    if (name !== undefined) return registry.struct(name);
  }
  throw new Error(`unknown type ${apiVersion} ${kind}`);
}

const parse = (json: string) => parseJson(Buffer.from(json)).value as { apiVersion: string; kind: string };
const answer = (name: string) => {
  const { json, protobuf } = recorded.answers.find((item) => item.name === name) as Fixture;
  return { object: JSON.parse(json), bytes: Buffer.from(protobuf, 'base64') };
};

describe('objects of the real server', () => {
  it.each(recorded.objects)('$name', ({ json, protobuf }) => {
    const { apiVersion, kind } = parse(json);
    const type = typeOf(apiVersion, kind);
    const bytes = Buffer.from(protobuf, 'base64');
    const object = decode(type, parse(json)).object;
    expect(encodeProtobuf(type, object).toString('hex')).toBe(bytes.toString('hex'));
    expect(atOnce(protobufLengthSteps(type, object as KubeObject))).toBe(bytes.length);
    const read = decodeProtobuf(type, bytes);
    expect(read).toEqual(object);
    expect(encode(type, read)).toBe(json);
    expect(isProtobuf(bytes)).toBe(true);
    expect(protobufKind(bytes)).toEqual({ apiVersion, kind });
  });
});

describe('responses of the real server', () => {
  const namespace = schema.struct('core_v1.Namespace');
  const listMeta = metaSchema.struct('meta_v1.ListMeta');

  it.each([
    { name: 'NamespaceList', type: namespace },
    { name: 'partial v1', type: metaSchema.struct('meta_v1.PartialObjectMetadata') },
    { name: 'partial v1beta1', type: metaSchema.struct('meta_v1.PartialObjectMetadata') },
  ])('$name', ({ name, type }) => {
    const { object, bytes } = answer(name);
    const items = Buffer.concat(object.items.map((item: object) => encodeProtobufListItem(type, item, object)));
    const { head, end } = protobufAroundItems(listMeta, object, items.length);
    expect(Buffer.concat([head, items, end]).toString('hex')).toBe(bytes.toString('hex'));
  });

  it('Status', () => {
    const { object, bytes } = answer('Status');
    expect(encodeProtobuf(metaSchema.struct('meta_v1.Status'), object).toString('hex')).toBe(bytes.toString('hex'));
  });

  it('watch', () => {
    const { object, bytes } = answer('watch');
    expect(encodeProtobufWatchEvent(namespace, object.type, object.object).toString('hex')).toBe(bytes.toString('hex'));
  });

  it('an error event of a watch has a Status', () => {
    const frame = encodeProtobufWatchEvent(namespace, 'ERROR', {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Expired',
      code: 410,
    });
    expect(frame.readUInt32BE()).toBe(frame.length - 4);
    expect(protobufKind(frame.subarray(frame.indexOf('k8s\0')))).toEqual({ apiVersion: 'v1', kind: 'Status' });
  });
});

/** Returns an envelope around message fields in hex. */
function envelope(raw: string): Buffer {
  const bytes = Buffer.from(raw.replaceAll(' ', ''), 'hex');
  return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x12, bytes.length]), bytes]);
}

describe('messages that stand for a value, as the real server reads them', () => {
  const extra = { type: schema.struct('authorization_v1.SubjectAccessReviewSpec'), field: 'extra' };
  const hard = { type: schema.struct('core_v1.ResourceQuotaSpec'), field: 'hard' };
  const port = { type: schema.struct('networking_v1.NetworkPolicyPort'), field: 'port' };
  const properties = { type: crds.struct('apiextensions_v1.JSONSchemaProps'), field: 'properties' };

  it.each([
    { name: 'a list without a value', ...extra, raw: '2a03 0a0161', value: { a: [] } },
    { name: 'a quantity without a value', ...hard, raw: '0a03 0a0161', value: { a: '0' } },
    { name: 'a quantity without a text', ...hard, raw: '0a05 0a0161 1200', value: { a: '0' } },
    { name: 'a schema without a value', ...properties, raw: 'ea01 03 0a0161', value: { a: {} } },
  ])('$name', ({ type, field, raw, value }) => {
    expect(decodeProtobuf(type, envelope(raw))).toEqual({ [field]: value });
  });

  it.each([
    { name: 'another wire type of a list', ...extra, raw: '2a07 0a0161 12020800', message: 'proto: wrong wireType = 0 for field Items' },
    {
      name: 'the end of no group in a list',
      ...extra,
      raw: '2a06 0a0161 12010c',
      message: 'proto: ExtraValue: wiretype end group for non-group',
    },
    { name: 'an empty quantity', ...hard, raw: '0a07 0a0161 12020a00', message: 'quantities must match the regular expression' },
    { name: 'a quantity with a space', ...hard, raw: '0a09 0a0161 12040a022031', message: 'quantities must match the regular expression' },
    { name: 'the number zero in a number or text', ...port, raw: '12020001', message: 'proto: IntOrString: illegal tag 0 (wire type 0)' },
    {
      name: 'another wire type of an x-kubernetes field',
      ...properties,
      raw: 'ba0201',
      message: 'proto: wrong wireType = 2 for field XEmbeddedResource',
    },
  ])('rejects $name', ({ type, raw, message }) => {
    expect(() => decodeProtobuf(type, envelope(raw))).toThrow(message);
  });
});

/** A small deterministic random number generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

const pick = <T>(next: () => number, choices: readonly T[]): T => choices[Math.floor(next() * choices.length)] as T;

/** Returns a random value of a type in decoded form; undefined for an absent value. */
function arbitrary(type: Type, next: () => number, depth: number): unknown {
  switch (type.kind) {
    case 'scalar':
      switch (type.scalar) {
        case 'string':
          return pick(next, ['', 'a', 'größer', '😀 <&>', 'x'.repeat(50), `${'x'.repeat(39)}é`]);
        case 'boolean':
          return next() < 0.5;
        case 'int32':
          return pick(next, [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)]);
        case 'int64':
          return pick<number | bigint>(next, [0, 1, -1, 2 ** 35, 2 ** 53 - 1, 1 - 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n)]);
        case 'float64':
          return pick(next, [0, 1.5, -2.25, 1e300]);
        case 'bytes':
          return Buffer.from(pick(next, ['', 'ab', '\u0000'])).toString('base64');
        case 'time':
          return pick(next, ['2026-11-21T10:52:13Z', '1960-02-29T00:00:00Z', undefined]);
        case 'microtime':
          return pick(next, ['2026-11-21T10:52:13.000001Z', '1960-02-29T00:00:00.999999Z', undefined]);
        case 'quantity':
          return pick(next, ['0', '1500m', '1Gi', '-3']);
        case 'intOrString':
          return pick<number | string>(next, [0, 80, -1, '', 'http']);
      }
      break;
    case 'raw':
      if (type.name.endsWith('OrBool')) return pick<unknown>(next, [true, false, { type: 'string' }]);
      if (type.name.endsWith('OrArray')) return pick<unknown>(next, [{ type: 'string' }, [{ type: 'string' }, {}]]);
      if (type.name.endsWith('OrStringArray')) return pick<unknown>(next, [{ type: 'string' }, ['a', 'b']]);
      if (type.name === 'meta_v1.FieldsV1') return { 'f:metadata': { 'k:{"name":"<é>"}': {} } };
      return pick<unknown>(next, [{ b: [1, null], a: 9007199254740993n }, 'text', 0, false]);
    case 'list': {
      // Protobuf cannot represent empty lists and maps.
      const list = Array.from({ length: depth > 6 ? 0 : Math.floor(next() * 3) }, () => arbitrary(type.items, next, depth + 1)).filter(
        (item) => item !== undefined,
      );
      return list.length > 0 ? list : undefined;
    }
    case 'map': {
      const map: Record<string, unknown> = {};
      for (const key of ['b', 'a', 'é', '__proto__', 'constructor']) {
        const value = next() < 0.3 ? arbitrary(type.values, next, depth + 1) : undefined;
        if (value !== undefined) Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
      }
      return Object.keys(map).length > 0 ? map : undefined;
    }
    case 'struct': {
      const object: Record<string, unknown> = {};
      for (const [name, field] of type.fields) {
        // Kind and apiVersion of a nested object are not encoded.
        if (
          (name === 'kind' || name === 'apiVersion') &&
          !type.registry?.messages?.messageOf(type.name)?.message.some(([inMessage]) => inMessage === name)
        )
          continue;
        if (next() < (depth > 4 ? 0.95 : 0.4)) continue;
        const value = arbitrary(field.type, next, depth + 1);
        if (value !== undefined) object[name] = value;
      }
      return object;
    }
  }
  return undefined;
}

describe('decodes what it has encoded', () => {
  const kinds = [tables, crdTables, apiServiceTables].flatMap((folder) => Object.keys(folder.table<Record<string, string>>('kinds')));
  const stored = kinds.map((key) => {
    const [kind = '', version = '', group = ''] = key.split('/').reverse();
    return { apiVersion: group ? `${group}/${version}` : version, kind };
  });

  it.each(stored)('$apiVersion $kind', ({ apiVersion, kind }) => {
    const type = typeOf(apiVersion, kind);
    const next = random(kind.length);
    for (let i = 0; i < 20; i++) {
      const object = decode(type, { ...(arbitrary(type, next, 0) as object), apiVersion, kind }).object;
      const bytes = encodeProtobuf(type, object);
      // Go encodes all non-pointer fields: decoding yields the same JSON.
      expect(encode(type, decodeProtobuf(type, bytes))).toBe(encode(type, object));
      expect(encodeProtobuf(type, decodeProtobuf(type, bytes)).equals(bytes)).toBe(true);
    }
  });
});
