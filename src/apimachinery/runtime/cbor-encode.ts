/** Writing a JSON value as CBOR. Upstream: apimachinery/pkg/runtime/serializer/cbor/internal/modes/encode.go. */
import { Buffer } from 'node:buffer';
import { type CborWriter, Major, Tag } from './cbor-wire.ts';
import { compareUtf8 } from './json.ts';
import type { StructType } from './schema.ts';
import { Code, type ValuePlan, valuePlan } from './struct-plan.ts';

type Json = Record<string, unknown>;

const nullByte = 0xf6;
const falseByte = 0xf4;
const trueByte = 0xf5;

/** A container that is being written. */
interface OpenContainer {
  readonly container: unknown[] | Json;
  /** undefined of a list. */
  readonly keys: readonly string[] | undefined;
  readonly plan: ValuePlan | undefined;
  next: number;
}

/**
 * Writes a decoded object, or what has its form: strings and keys as byte strings, keys in the order of their encodings, numbers in the shortest form that
 * keeps them, and of what the type calls bytes these, tagged as base64. Without a type, nothing is bytes. Works at any depth.
 */
export function writeCbor(writer: CborWriter, value: unknown, type: StructType | undefined): void {
  const open: OpenContainer[] = [];
  const write = (item: unknown, plan: ValuePlan | undefined): void => {
    if (item !== null && typeof item === 'object') open.push(beginContainer(writer, item as unknown[] | Json, plan));
    else writeScalar(writer, item, plan?.code);
  };
  write(value, type && valuePlan(type));
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const { container, keys, plan } = top;
    const at = top.next++;
    if (keys === undefined) {
      if (at === (container as unknown[]).length) open.pop();
      else write((container as unknown[])[at], plan?.code === Code.List ? plan.items() : undefined);
    } else if (at === keys.length) open.pop();
    else {
      const key = keys[at]!;
      writer.text(key);
      write((container as Json)[key], planOf(plan, key));
    }
  }
}

function beginContainer(writer: CborWriter, container: unknown[] | Json, plan: ValuePlan | undefined): OpenContainer {
  const keys = Array.isArray(container) ? undefined : keysInOrder(container);
  if (keys) writer.head(Major.Map, keys.length);
  else writer.head(Major.Array, (container as unknown[]).length);
  return { container, keys, plan, next: 0 };
}

function planOf(plan: ValuePlan | undefined, key: string): ValuePlan | undefined {
  switch (plan?.code) {
    case Code.Struct:
      return plan.struct().byName.get(key)?.value;
    case Code.Map:
      return plan.items();
    default:
      return undefined;
  }
}

const beyondAscii = /[^\0-\x7f]/;

/** The keys of an object as the bytes of their encodings are ordered: shorter ones first. What is undefined is not there. */
function keysInOrder(object: Json): string[] {
  const keys: string[] = [];
  let isAscii = true;
  for (const key in object) {
    if (object[key] === undefined) continue;
    keys.push(key);
    isAscii &&= !beyondAscii.test(key);
  }
  return isAscii
    ? keys.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    : keys.sort((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || compareUtf8(a, b));
}

function writeScalar(writer: CborWriter, value: unknown, code: Code | undefined): void {
  switch (typeof value) {
    case 'boolean':
      return writer.byte(value ? trueByte : falseByte);
    case 'string':
      if (code === Code.Bytes) return writeBytes(writer, value);
      return writer.text(value);
    case 'number':
      // Integers beyond the safe range are bigints, unless they are beyond an int64: Go has a float then.
      if (code !== Code.Float64 && Number.isSafeInteger(value)) return writer.integer(value);
      return writer.float(value);
    case 'bigint':
      return writer.integer(value);
    default:
      return writer.byte(nullByte);
  }
}

function writeBytes(writer: CborWriter, base64: string): void {
  const bytes = Buffer.from(base64, 'base64');
  writer.head(Major.Tag, Tag.Base64);
  writer.head(Major.Bytes, bytes.length);
  writer.raw(bytes);
}
