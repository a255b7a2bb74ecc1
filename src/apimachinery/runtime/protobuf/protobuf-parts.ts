/** Concatenates protobuf messages from parts, for rare use: each part is a separate buffer. Hot paths use `message-table.ts`. */
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

/** Encodes an integer field from 0 to 2^53. */
export function integer(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, Wire.Varint), varint(value)]);
}

/** Encodes a double field. */
export function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, Wire.Fixed64), bytes]);
}

/** Encodes a string field. */
export function text(field: number, value: string): Buffer {
  return nested(field, [Buffer.from(value)]);
}

/** Encodes a message field. */
export function nested(field: number, content: readonly Buffer[]): Buffer {
  return Buffer.concat([tag(field, Wire.Length), ...withLength(content)]);
}

/** Returns the bytes with a length prefix. */
export function withLength(content: readonly Buffer[]): Buffer[] {
  return [varint(content.reduce((sum, { length }) => sum + length, 0)), ...content];
}
