/**
 * Protobuf messages put together of parts, for what is asked for rarely: nothing is reserved, and each part is a buffer of its own.
 * The hot path has `message-table.ts`.
 */
import { Buffer } from 'node:buffer';
import { Wire } from './protobuf-wire.ts';

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function tag(field: number, wire: Wire): Buffer {
  return Buffer.from([(field << 3) | wire]);
}

/** A field that holds a whole number from 0 to 2^53. */
export function integer(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, Wire.Varint), varint(value)]);
}

/** A field that holds a double. */
export function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, Wire.Fixed64), bytes]);
}

/** A field that holds a text. */
export function text(field: number, value: string): Buffer {
  return nested(field, [Buffer.from(value)]);
}

/** A field that holds a message of these fields. */
export function nested(field: number, content: readonly Buffer[]): Buffer {
  return Buffer.concat([tag(field, Wire.Length), ...withLength(content)]);
}

/** The bytes with their length before them. */
export function withLength(content: readonly Buffer[]): Buffer[] {
  return [varint(content.reduce((sum, { length }) => sum + length, 0)), ...content];
}
