/**
 * Objects as CBOR, in the dialect of the API. Upstream: apimachinery/pkg/runtime/serializer/cbor. Each begins with the tag that says of it that it is CBOR
 * (RFC 8949, 3.4.6).
 */
import { Buffer } from 'node:buffer';
import { readCbor, readWellFormed } from './cbor-decode.ts';
import { writeCbor } from './cbor-encode.ts';
import { checkWellFormed, CborWriter, Major } from './cbor-wire.ts';
import { type Decoded, decode } from './decode.ts';
import type { Field, StructType } from './schema.ts';
import { valuePlan } from './struct-plan.ts';

const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Whether bytes say of themselves that they are CBOR. Bodies of requests need not. */
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

/** What an object says that it is; empty where it says nothing. Throws DecodeError for what is no CBOR, or no object. */
export function cborKind(bytes: Buffer): Identity {
  checkWellFormed(bytes);
  const { kind, apiVersion } = (readWellFormed(bytes, valuePlan(typeMeta)).value ?? {}) as Partial<
    Record<'kind' | 'apiVersion', string | null>
  >;
  return { kind: kind ?? '', apiVersion: apiVersion ?? '' };
}

/** Any item as JSON has it, the keys of its maps sorted. Throws DecodeError. */
export function parseCbor(bytes: Buffer): unknown {
  return readCbor(bytes).value;
}

const anyMap = valuePlan({ kind: 'map', values: { kind: 'raw', name: 'interface {}' }, mapType: 'granular' });

/** Like `parseCbor`, of what must be a map or null, which counts as an empty one. */
export function parseCborMap(bytes: Buffer): Record<string, unknown> {
  return (readCbor(bytes, anyMap).value ?? {}) as Record<string, unknown>;
}

/** An object of a type, as decoding its JSON gives it; `strictError` tells the first field that the type does not have. Throws DecodeError. */
export function decodeCbor<T>(type: StructType, bytes: Buffer): Pick<Decoded<T>, 'object'> & { readonly strictError: string | undefined } {
  const { value, unknownField } = readCbor(bytes, valuePlan(type));
  const { object } = decode<T>(type, value, { strict: false });
  return { object, strictError: unknownField === undefined ? undefined : `cbor: found unknown field at map element index ${unknownField}` };
}

/** An object of a type; undefined: of a custom resource, in which nothing is bytes. */
export function encodeCbor(type: StructType | undefined, object: unknown): Buffer {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  writeCbor(writer, object, type);
  return writer.bytes();
}

/** An object as the item of a list. */
export function encodeCborListItem(type: StructType | undefined, object: unknown): Buffer {
  const writer = new CborWriter();
  writeCbor(writer, object, type);
  return writer.bytes();
}

/** A list, as pieces in order. `items` are joined results of `encodeCborListItem`, `count` of them. */
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

/** A watch event with its encoded object. Events follow each other with nothing between them (RFC 8742). */
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
