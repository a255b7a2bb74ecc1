import { Buffer } from 'node:buffer';
import { Float64 } from '#apimachinery/runtime/numbers';
import { encodeYamlNode } from '#apimachinery/runtime/yaml/yaml-node-emitter';
import type { JsonSchema } from './schemas.ts';

/** Encodings of the fields of gnostic's messages, for OpenAPI 2.0 and 3.0. Upstream: google/gnostic-models. */

/** Encoded fields of a message, in order. */
export type Fields = readonly Uint8Array[];

function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) + 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const tags = Array.from({ length: 40 }, (_, number) => ({
  varint: varint(number * 8),
  fixed64: varint(number * 8 + 1),
  bytes: varint(number * 8 + 2),
}));
/** No field. */
export const none: Fields = [];

function bytes(number: number, content: Uint8Array): Fields {
  return [tags[number]!.bytes, varint(content.length), content];
}
/** Encodes a message. */
export function message(number: number, fields: Fields): Fields {
  return bytes(number, Buffer.concat(fields));
}
/** Encodes a string field; proto3 omits empty and absent ones. */
export function text(number: number, value: unknown): Fields {
  return typeof value === 'string' && value !== '' ? bytes(number, Buffer.from(value)) : none;
}
/** Encodes a repeated string. */
export function texts(number: number, values: unknown): Fields {
  return Array.isArray(values) ? values.flatMap((value: string) => bytes(number, Buffer.from(value))) : none;
}
/** Encodes a boolean; proto3 omits false. */
export function flag(number: number, value: unknown): Fields {
  return value === true ? [tags[number]!.varint, varint(1)] : none;
}
/** Encodes an int64; proto3 omits 0. */
export function integer(number: number, value: unknown): Fields {
  return (typeof value === 'number' && Number.isInteger(value) && value !== 0) || typeof value === 'bigint'
    ? [tags[number]!.varint, varint(value)]
    : none;
}
/** Encodes a double; proto3 omits 0. */
export function double(number: number, value: unknown): Fields {
  const plain = numberOf(value);
  return plain === undefined || plain === 0 ? none : memberDouble(number, plain);
}

function numberOf(value: unknown): number | undefined {
  if (value instanceof Float64) return value.value;
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function memberDouble(number: number, value: number): Fields {
  const encoded = Buffer.alloc(8);
  encoded.writeDoubleLE(value);
  return [tags[number]!.fixed64, encoded];
}

/** Encodes a boolean of a oneof, where false is encoded, too. */
export function memberFlag(number: number, value: boolean): Fields {
  return [tags[number]!.varint, varint(value ? 1 : 0)];
}

/** Encodes the scalar that a `DefaultType` has; it is empty for other values. */
export function defaultFields(value: unknown): Fields {
  const number = numberOf(value);
  if (number !== undefined) return memberDouble(1, number);
  if (typeof value === 'boolean') return memberFlag(2, value);
  return typeof value === 'string' ? bytes(3, Buffer.from(value)) : none;
}

/** Encodes an `Any`: the value as YAML. */
export function any(value: unknown): Fields {
  return text(2, encodeYamlNode(value));
}

/** Encodes a message unless the value is undefined. */
export function optional(number: number, value: unknown, encode: (value: JsonSchema) => Fields): Fields {
  return value === undefined ? none : message(number, encode(value as JsonSchema));
}

/** Encodes a message for each item of a list. */
export function list(number: number, values: unknown, encode: (value: JsonSchema) => Fields): Fields {
  return Array.isArray(values) ? values.flatMap((value: JsonSchema) => message(number, encode(value))) : none;
}

/** Encodes one member of a map: a message of its name and its value. */
function member(number: number, name: string, value: Fields): Fields {
  return message(number, [...text(1, name), ...message(2, value)]);
}

/** Encodes the members whose name starts with `x-`. */
export function extensions(number: number, object: JsonSchema): Fields {
  return Object.entries(object)
    .filter(([name]) => name.startsWith('x-'))
    .flatMap(([name, value]) => member(number, name, any(value)));
}

/** Encodes the members of a map. */
export function named(number: number, record: unknown, encode: (value: JsonSchema) => Fields): Fields {
  return Object.entries((record ?? {}) as Record<string, JsonSchema>).flatMap(([name, value]) => member(number, name, encode(value)));
}

/** Encodes one member of a map in a buffer of its own. */
export function entry(number: number, name: string, value: Fields): Buffer {
  return Buffer.concat(member(number, name, value));
}

/** Returns the tag and the length of a message with these fields. */
export function lengthOf(number: number, fields: readonly Buffer[]): Buffer {
  return Buffer.concat([tags[number]!.bytes, varint(fields.reduce((length, field) => length + field.length, 0))]);
}
