/**
 * Objects as CBOR, in the dialect of the API. Upstream: apimachinery/pkg/runtime/serializer/cbor. Each has the self-described tag (RFC
 * 8949, 3.4.6).
 */
import { Buffer } from 'node:buffer';
import { anything, readCbor, readWellFormed } from './cbor-decode.ts';
import { writeCbor } from './cbor-encode.ts';
import { CborWriter, Major } from './cbor-wire.ts';
import { decode } from '../decode.ts';
import { decodeSteps } from '../decode-steps.ts';
import type { Field, StructType } from '../schema.ts';
import { atOnce, needsSteps, type Steps } from '../steps.ts';
import { valuePlan } from '../struct-plan.ts';

const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** True if the bytes have the self-described tag, which is optional in request bodies. */
export function isCbor(bytes: Buffer): boolean {
  return bytes.length >= selfDescribed.length && bytes.compare(selfDescribed, 0, selfDescribed.length, 0, selfDescribed.length) === 0;
}

const text = (name: string): [string, Field] => [
  name,
  {
    name,
    type: { kind: 'scalar', scalar: 'string' },
    required: false,
    ptr: false,
    always: false,
    omitzero: false,
    default: undefined,
    atomic: false,
  },
];

const typeMeta: StructType = {
  kind: 'struct',
  name: 'meta_v1.TypeMeta',
  goName: 'v1.TypeMeta',
  fields: new Map([text('kind'), text('apiVersion')]),
  atomic: false,
  preserveUnknownFields: false,
};

/** Returns apiVersion and kind of an object; empty if absent. Throws DecodeError for malformed CBOR, or another item than a map. */
export function* cborKind(bytes: Buffer): Steps<Identity> {
  const { value } = yield* readCbor(bytes, valuePlan(typeMeta));
  const { kind, apiVersion } = (value ?? {}) as Partial<Record<'kind' | 'apiVersion', string | null>>;
  return { kind: kind ?? '', apiVersion: apiVersion ?? '' };
}

/** Decodes any item to JSON. Throws DecodeError. */
export function parseCbor(bytes: Buffer): unknown {
  return atOnce(readCbor(bytes)).value;
}

const anyMap = valuePlan({ kind: 'map', values: anything, mapType: 'granular' });

/**
 * Like `parseCbor`, but requires a map or null, which is read as an empty map. `sorts` sorts the keys of nested maps, as Go's maps are
 * encoded.
 */
export function* parseCborMap(bytes: Buffer, sorts = false): Steps<Record<string, unknown>> {
  const { value } = yield* readCbor(bytes, anyMap, sorts);
  return (value ?? {}) as Record<string, unknown>;
}

interface DecodedCbor<T> {
  readonly object: T;
  /** The error for the first unknown field. */
  readonly strictError: string | undefined;
}

/** Decodes an object of a type, equal to decoding its JSON. Its bytes were checked by `cborKind`. Throws DecodeError. */
export function* decodeCbor<T>(type: StructType, bytes: Buffer): Steps<DecodedCbor<T>> {
  const { value, unknownField } = yield* readWellFormed(bytes, valuePlan(type));
  const options = { strict: false };
  const { object } = needsSteps(bytes.length) ? yield* decodeSteps<T>(type, value, options) : decode<T>(type, value, options);
  return { object, strictError: unknownField === undefined ? undefined : `cbor: found unknown field at map element index ${unknownField}` };
}

/** Encodes an object of a type; undefined for a custom resource, which has no byte fields. */
export function encodeCbor(type: StructType | undefined, object: unknown): Buffer {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  writeCbor(writer, object, type);
  return writer.bytes();
}

/** Encodes an object as an item of a list. */
export function encodeCborListItem(type: StructType | undefined, object: unknown): Buffer {
  const writer = new CborWriter();
  writeCbor(writer, object, type);
  return writer.bytes();
}

/** Returns a list as pieces in order. `items` are concatenated results of `encodeCborListItem`, `count` of them. */
export function cborList(list: Identity & { readonly metadata: object }, items: readonly Buffer[], count: number): Buffer[] {
  const head = new CborWriter();
  head.raw(selfDescribed);
  head.head(Major.Map, 4);
  head.text('kind');
  head.text(list.kind);
  head.text('items');
  head.head(Major.Array, count);
  const end = new CborWriter();
  end.text('metadata');
  writeCbor(end, list.metadata, undefined);
  end.text('apiVersion');
  end.text(list.apiVersion);
  return [head.bytes(), ...items, end.bytes()];
}

/** Encodes a watch event with an encoded object. Events follow each other without separators (RFC 8742). */
export function encodeCborWatchEvent(event: string, object: Buffer): Buffer {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  writer.head(Major.Map, 2);
  writer.text('type');
  writer.text(event);
  writer.text('object');
  writer.raw(object);
  return writer.bytes();
}
