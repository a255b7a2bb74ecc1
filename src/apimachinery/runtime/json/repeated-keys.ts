/**
 * Decodes JSON objects with repeated keys like Go: the later value is decoded into the earlier one. Structs and maps are merged, lists item
 * by item, and null leaves non-pointers unchanged.
 *
 * `{"data":{"a":"1"},"data":{"b":"2"}}` is parsed as `{"data":{"a":"1"},"<mark>0:data":{"b":"2"}}`; the type of `data` then determines that
 * it has both keys. Upstream: sigs.k8s.io/json, internal/golang/encoding/json/decode.go.
 */
import { randomUUID } from 'node:crypto';
import { quote } from '../quote.ts';
import { getOwn, setOwn } from '#apimachinery/patch/own-property';
import { DecodeError, parseJsonSteps } from './json.ts';
import { isContainer } from '../numbers.ts';
import type { StructType } from '../schema.ts';
import type { Steps } from '../steps.ts';
import { Code, type FieldPlan, structPlan, type StructPlan, type ValuePlan } from '../struct-plan.ts';
import { keysOf } from '../wide-objects.ts';

type Json = Record<string, unknown>;

export interface MergedJson {
  readonly value: unknown;
  /** `unknown field "x"` and `duplicate field "y"` in document order, without duplicates, at most 100. */
  readonly strictErrors: readonly string[];
}

const maxErrors = 100;

/** Prefix of a repeated key while it is a separate key; clients cannot guess it. */
const mark = `\u0002${randomUUID()}:`;
const markInJson = JSON.stringify(mark).slice(1, -1);
const marksInJson = new RegExp(`${markInJson.replace('\\', '\\\\')}\\d+:`, 'g');

/** Decodes a valid JSON text for a struct type. `repeatedKeys` has the byte offsets of repeated keys from `parseJson`. */
export function* mergeRepeatedKeys(type: StructType, bytes: Buffer, repeatedKeys: readonly number[]): Steps<MergedJson> {
  const { value } = yield* parseJsonSteps(markedKeys(bytes, repeatedKeys), undefined, 'keep');
  if (!isObject(value)) return { value, strictErrors: [] };
  const merging = new Merging();
  const merged = yield* merging.struct(structPlan(type), value, undefined);
  return { value: merged, strictErrors: [...merging.errors] };
}

/**
 * Parses a valid JSON text, in which repeated keys become keys of their own, for a document that later becomes part of another text:
 * `plainJson` restores them there, `resolveRepeatedKeys` drops all but the last of an object.
 */
export function* parseWithRepeatedKeys(bytes: Buffer, repeatedKeys: readonly number[]): Steps<unknown> {
  return (yield* parseJsonSteps(markedKeys(bytes, repeatedKeys), undefined, 'keep')).value;
}

/** Returns encoded JSON with the repeated keys of `parseWithRepeatedKeys` as they were. */
export function plainJson(json: Buffer): Buffer {
  return Buffer.from(json.toString().replaceAll(marksInJson, ''));
}

/** Drops all but the last of repeated keys, as Go decodes an object into a map. In place, without the values. */
export function resolveRepeatedKeys(container: object): void {
  const entries = container as Json;
  for (const key of keysOf(container)) {
    if (!key.startsWith(mark)) continue;
    const value = entries[key];
    delete entries[key];
    setOwn(entries, plainKey(key), value);
  }
}

function markedKeys(bytes: Buffer, repeatedKeys: readonly number[]): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [i, at] of repeatedKeys.entries()) {
    pieces.push(bytes.subarray(from, at), Buffer.from(`${markInJson}${i}:`));
    from = at;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

function plainKey(key: string): string {
  return key.startsWith(mark) ? key.slice(key.indexOf(':', mark.length) + 1) : key;
}

function isObject(value: unknown): value is Json {
  return isContainer(value) && !Array.isArray(value);
}

/** Maximum depth of structs in a text with repeated keys: the recursion takes three stack frames for each. API types are not as deep. */
const maxDepth = 200;

/** Number of keys between two yields. */
const stepKeys = 512;

class Merging {
  readonly errors = new Set<string>();
  #visited = 0;
  #depth = 0;

  *struct(plan: StructPlan, later: Json, earlier: unknown, path = ''): Steps<Json> {
    if (++this.#depth > maxDepth) throw new DecodeError('exceeded max depth');
    const merged: Json = isObject(earlier) ? earlier : {};
    for (const key of keysOf(later)) {
      if (++this.#visited % stepKeys === 0) yield;
      const name = plainKey(key);
      const at = path === '' ? name : `${path}.${name}`;
      const field = plan.byName.get(name);
      if (!field) {
        if (plan.preserve) setOwn(merged, name, withoutRepeatedKeys(later[key]));
        else this.#report('unknown', at);
        continue;
      }
      if (name !== key) this.#report('duplicate', at);
      setOwn(merged, name, yield* this.#field(field, later[key], getOwn(merged, name), at));
    }
    this.#depth--;
    return merged;
  }

  *#field(field: FieldPlan, later: unknown, earlier: unknown, path: string): Steps<unknown> {
    if (later !== null) return yield* this.#value(field.value, later, earlier, path);
    const keeps = !field.isPointer && field.code !== Code.List && field.code !== Code.Map && field.code !== Code.StringMap;
    return keeps && field.code !== Code.Raw ? (earlier ?? null) : null;
  }

  *#value(plan: ValuePlan, later: unknown, earlier: unknown, path: string): Steps<unknown> {
    switch (plan.code) {
      case Code.Struct:
        return isObject(later) ? yield* this.struct(plan.struct(), later, earlier, path) : withoutRepeatedKeys(later);
      case Code.Map:
      case Code.StringMap:
        return isObject(later) ? yield* this.#map(plan.items(), later, earlier, path) : withoutRepeatedKeys(later);
      case Code.List:
        return Array.isArray(later) ? yield* this.#list(plan.items(), later, earlier, path) : withoutRepeatedKeys(later);
      default:
        return withoutRepeatedKeys(later);
    }
  }

  *#map(items: ValuePlan, later: Json, earlier: unknown, path: string): Steps<Json> {
    const merged: Json = isObject(earlier) ? earlier : {};
    for (const key of keysOf(later)) {
      if (++this.#visited % stepKeys === 0) yield;
      const name = plainKey(key);
      const at = `${path}.${name}`;
      if (name !== key) this.#report('duplicate', at);
      setOwn(merged, name, yield* this.#value(items, later[key], undefined, at));
    }
    return merged;
  }

  *#list(items: ValuePlan, later: readonly unknown[], earlier: unknown, path: string): Steps<unknown[]> {
    const before: readonly unknown[] = Array.isArray(earlier) ? earlier : [];
    const merged: unknown[] = [];
    for (const [i, item] of later.entries()) {
      if (++this.#visited % stepKeys === 0) yield;
      merged.push(item === null ? (before[i] ?? null) : yield* this.#value(items, item, before[i], `${path}[${i}]`));
    }
    return merged;
  }

  #report(what: 'unknown' | 'duplicate', path: string): void {
    if (this.errors.size < maxErrors) this.errors.add(`${what} field ${quote(path)}`);
  }
}

/** Returns a value that Go does not decode by fields: the last of repeated keys wins. In place. */
export function withoutRepeatedKeys(root: unknown): unknown {
  const holder = [root];
  const open: (unknown[] | Json)[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    resolveRepeatedKeys(container);
    for (const key of keysOf(container)) {
      const value = (container as Json)[key];
      if (isContainer(value)) open.push(value as Json);
    }
  }
  return holder[0];
}
