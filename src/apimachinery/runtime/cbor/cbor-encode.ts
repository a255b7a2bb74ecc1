/** Encodes a JSON value as CBOR. Upstream: apimachinery/pkg/runtime/serializer/cbor/internal/modes/encode.go. */
import { Buffer } from 'node:buffer';
import { type CborWriter, Major, Tag } from './cbor-wire.ts';
import { compareUtf8 } from '../json/json.ts';
import { Float64, isContainer } from '../numbers.ts';
import type { StructType } from '../schema.ts';
import { Code, type ValuePlan, valuePlan } from '../struct-plan.ts';

type Json = Record<string, unknown>;

const nullByte = 0xf6;
const falseByte = 0xf4;
const trueByte = 0xf5;

/**
 * Encodes a decoded object, or a value of that form: strings and keys as byte strings, keys sorted by their encodings, numbers in the
 * shortest lossless form, and bytes of the type tagged as base64. Without a type, nothing is bytes. Any depth.
 */
export function writeCbor(writer: CborWriter, value: unknown, type: StructType | undefined): void {
  // Stacks of the open containers.
  const containers: (readonly unknown[] | Json)[] = [];
  /** Keys of each open container; undefined for a list. */
  const keys: (readonly string[] | undefined)[] = [];
  const plans: (ValuePlan | undefined)[] = [];
  /** Next index in each open container. */
  const nexts: number[] = [];
  let item = value;
  let plan = type && valuePlan(type);
  for (;;) {
    if (isContainer(item)) {
      containers.push(item as readonly unknown[] | Json);
      keys.push(beginContainer(writer, item as readonly unknown[] | Json));
      plans.push(plan);
      nexts.push(0);
    } else writeScalar(writer, item, plan?.code);
    let top = containers.length - 1;
    for (; top >= 0 && nexts[top] === (keys[top] ?? (containers[top] as readonly unknown[])).length; top--) {
      containers.pop();
      keys.pop();
      plans.pop();
      nexts.pop();
    }
    if (top < 0) return;
    const at = nexts[top]!++;
    const key = keys[top]?.[at];
    const outer = plans[top];
    if (key === undefined) {
      item = (containers[top] as readonly unknown[])[at];
      plan = outer?.code === Code.List ? outer.items() : undefined;
    } else {
      writer.text(key);
      item = (containers[top] as Json)[key];
      plan = outer && planOf(outer, key);
    }
  }
}

/** Writes the head of a container. Returns the sorted keys of a map; undefined for a list. */
function beginContainer(writer: CborWriter, container: readonly unknown[] | Json): readonly string[] | undefined {
  const keys = Array.isArray(container) ? undefined : keysInOrder(container as Json);
  writer.head(keys ? Major.Map : Major.Array, (keys ?? (container as readonly unknown[])).length);
  return keys;
}

/** Returns the plan of a map's value. */
function planOf(plan: ValuePlan, key: string): ValuePlan | undefined {
  switch (plan.code) {
    case Code.Struct:
      return plan.struct().byName.get(key)?.value;
    case Code.Map:
      return plan.items();
    default:
      return undefined;
  }
}

const beyondAscii = /[^\0-\x7f]/;

/** Returns the keys of an object sorted by their encodings: shorter ones first. Undefined members are left out. */
function keysInOrder(object: Json): string[] {
  const keys: string[] = [];
  let isAscii = true;
  for (const key in object) {
    if (object[key] === undefined) continue;
    keys.push(key);
    isAscii &&= !beyondAscii.test(key);
  }
  if (keys.length < 2) return keys;
  // The sort is stable, and fastest without a comparison function.
  return isAscii
    ? keys.sort().sort((a, b) => a.length - b.length)
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
      // Unsafe integers are bigints, unless they exceed int64: Go has a float then.
      if (code !== Code.Float64 && Number.isSafeInteger(value)) return writer.integer(value);
      return writer.float(value);
    case 'bigint':
      return writer.integer(value);
    default:
      if (value instanceof Float64) return writer.float(value.value);
      return writer.byte(nullByte);
  }
}

function writeBytes(writer: CborWriter, base64: string): void {
  const bytes = Buffer.from(base64, 'base64');
  writer.head(Major.Tag, Tag.Base64);
  writer.head(Major.Bytes, bytes.length);
  writer.raw(bytes);
}
